# A host's own language: everything but required_plugins is left alone.
variable "region" {
  default = upper("eu")
}

plugins {
  required_version = "= 99.0.0"
  anything         = [for r in var.regions : r if r != ""]
}

plugins = 5

runner "a" "b" {
  required_plugins {
    nested = "is the runner's"
  }
}

required_plugins {
  aws = {
    source  = "registry.example.com/fleeting/aws"
    version = "~> 1.2"
  }
}
