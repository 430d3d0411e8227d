# A newer tool's project: nothing is said about what this one does not know.
trust "keys" {
  key = file("x")
}

plugins {
  mode => strict
  nested { required_version = "= 7.0.0" }
  required_version = ">= 0.3.0"
}

required_plugins {
  aws = { source = "x.example/y", trust = keys
}

# ERROR: 9:22 Another version of the tool required
