plugins {
}

plugins {
  platforms = ["linux/amd64"]
}

required_plugins {
  aws = { source = "x.example/y", version = "1.0.0" }
  gcp = { source = "x.example/y", version = "1.0.0" }
  gcp = { source = "x.example/y", version = "1.0.0" }
}

required_plugins {
  aws = { source = "x.example/y", version = "2.0.0", protocols = [5] }
}

# ERROR: 4:1 Plugins block written twice
# ERROR: 11:3 Attribute redefined
# ERROR: 15:3 Plugin required twice
