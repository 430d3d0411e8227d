required_plugins = {
  aws = { source = "x.example/y", version = "1.0.0" }
}

required_plugins "x" {
}

required_plugins {
  gcp = "x.example/y"
}

# ERROR: 1:1 Block written as an attribute
# ERROR: 5:18 Extraneous label for required_plugins
# ERROR: 9:9 Value of the wrong type
