# What fish offers after "offcpud".
complete -c offcpud -f
complete -c offcpud -s h -l help -d 'What it takes'
complete -c offcpud -l version -d 'Its version'
complete -c offcpud -l config -r -F -d 'Configuration'
complete -c offcpud -l check-config -d 'Say what is wrong with the configuration, and exit'
complete -c offcpud -l print-config -d 'Print the configuration with all defaults, and exit'
