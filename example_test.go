package plugins_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pluginlock/plugins"
)

// A host program installs its plugins before it loads the rest of its
// configuration, which has its required_plugins block in runner.hcl.
func ExampleInit() {
	options, err := plugins.FromEnvironment()
	if err != nil {
		log.Fatal(err)
	}
	options.ConfigFiles = []string{"/etc/runner/runner.hcl"}
	options.Mode = plugins.Locked
	result, err := plugins.Init(context.Background(), options)
	if err != nil {
		log.Print(err) // one broken plugin need not stop the others
	}
	for name, plugin := range result.Usable() {
		fmt.Println(name, plugin.Version, plugin.Executable)
	}
}

// Requirements need not come from HCL.
func ExampleInit_requirements() {
	options, err := plugins.FromEnvironment()
	if err != nil {
		log.Fatal(err)
	}
	options.Dir = "/var/lib/scanner"
	options.Requirements = []plugins.Requirement{
		{Name: "trivy", Source: "registry.example.com/scanners/trivy", Version: "~> 1.4", Protocols: []int{5, 6}},
	}
	if _, err := plugins.Init(context.Background(), options); err != nil {
		log.Fatal(err)
	}
}
