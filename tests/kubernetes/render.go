// Renders the templates of a Helm chart as helm does, with the few functions that ours use, where there is no helm.
// Usage: go run render.go CHART VALUES.json      values are JSON, which is YAML as well
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

type files struct{ chart string }

func (f files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(f.chart, name))
	check(err)
	return string(text)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	chart := os.Args[1]
	text, err := os.ReadFile(os.Args[2])
	check(err)
	var values map[string]any
	check(json.Unmarshal(text, &values))
	functions := template.FuncMap{
		"default": func(other string, value any) any {
			if value == nil || value == "" {
				return other
			}
			return value
		},
		"nindent": func(spaces int, text string) string {
			indent := "\n" + strings.Repeat(" ", spaces)
			return indent + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", indent)
		},
		"int":       func(value float64) int { return int(value) },
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		"toYaml": func(value any) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		},
	}
	names, err := filepath.Glob(filepath.Join(chart, "templates", "*.yaml"))
	check(err)
	for _, name := range names {
		source, err := os.ReadFile(name)
		check(err)
		parsed, err := template.New(name).Funcs(functions).Option("missingkey=error").Parse(string(source))
		check(err)
		fmt.Println("---")
		check(parsed.Execute(os.Stdout, map[string]any{
			"Values":  values,
			"Files":   files{chart},
			"Release": map[string]string{"Name": "offcpud", "Namespace": "offcpud"},
		}))
	}
}
