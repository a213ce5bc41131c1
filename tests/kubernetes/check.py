"""Holds the manifests of packaging/container/kubernetes and the chart of packaging/helm to each other: by default the
chart makes the same pods. Needs python3-yaml, python3-jsonschema and go; kubectl, if it is there, builds the manifests.
Usage: check.py OFFCPUD      the program, which checks the configurations
"""

import copy
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import jsonschema
import yaml

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
MANIFESTS = TOP / "packaging/container/kubernetes"
CHART = TOP / "packaging/helm/offcpud"
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


def manifest(name):
    return yaml.safe_load((MANIFESTS / name).read_text())


def rendered(changes):
    """The objects of the chart by their kind."""
    values = copy.deepcopy(VALUES)
    for key, value in changes.items():
        values[key] = {**values[key], **value} if isinstance(value, dict) else value
    jsonschema.validate(values, SCHEMA)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(values, file)
        file.flush()
        text = subprocess.run(["go", "run", str(HERE / "render.go"), str(CHART), file.name], check=True,
                              capture_output=True, text=True).stdout
    return {document["kind"]: document for document in yaml.safe_load_all(text) if document}


def without_namespace(document):
    metadata = {key: value for key, value in document["metadata"].items() if key != "namespace"}
    return {**document, "metadata": metadata}


def refuses(changes):
    try:
        rendered(changes)
    except jsonschema.ValidationError:
        return
    raise AssertionError(f"the schema takes {changes}")


def check_chart():
    by_default = rendered({})
    assert set(by_default) == {"ConfigMap", "DaemonSet", "PriorityClass"}, set(by_default)
    daemons = copy.deepcopy(without_namespace(by_default["DaemonSet"]))
    del daemons["spec"]["template"]["metadata"]["annotations"]
    expected = manifest("daemonset.yaml")
    expected["spec"]["template"]["spec"]["containers"][0]["image"] = "offcpud:latest"
    assert daemons == expected, "the chart makes other pods than the manifest"
    assert by_default["PriorityClass"] == manifest("priorityclass.yaml")
    assert by_default["ConfigMap"]["data"]["offcpud.toml"] == (MANIFESTS / "offcpud.toml").read_text()

    other = rendered({"podMonitor": {"enabled": True}, "configuration": "[http]\n", "priorityClass": {"create": False}})
    assert without_namespace(other["PodMonitor"]) == manifest("prometheus/podmonitor.yaml")
    assert other["ConfigMap"]["data"]["offcpud.toml"] == "[http]\n"
    assert "PriorityClass" not in other
    pods = [chart["DaemonSet"]["spec"]["template"]["metadata"]["annotations"] for chart in (by_default, other)]
    assert pods[0] != pods[1], "a new configuration starts no new pods"
    for wrong in ({"image": {"tag": ""}}, {"seccompProfile": "None"}, {"podMonitor": {"interval": "soon"}},
                  {"priorityClass": {"name": 5}}, {"configuration": 5}):
        refuses(wrong)


def check_manifests():
    for path in MANIFESTS.rglob("*.yaml"):
        documents = list(yaml.safe_load_all(path.read_text()))
        assert documents and all(documents), path
    collector = manifest("collector/collector.yaml")
    pipeline = collector["service"]["pipelines"]["profiles"]
    for part in ("receivers", "processors", "exporters"):
        assert set(pipeline[part]) == set(collector[part]), part
    if shutil.which("kubectl"):
        for directory in (MANIFESTS, MANIFESTS / "prometheus", MANIFESTS / "collector"):
            subprocess.run(["kubectl", "kustomize", str(directory)], check=True, stdout=subprocess.DEVNULL)


def check_configuration(offcpud):
    subprocess.run([offcpud, "--config", str(MANIFESTS / "offcpud.toml"), "--check-config"], check=True)


check_chart()
check_manifests()
check_configuration(sys.argv[1])
print("the manifests and the chart agree")
