plugin {
}

required_plugin {
  aws = { source = "x.example/y", version = "1.0.0" }
}

required_plugins = {
  aws = { source = "x.example/y", version = "1.0.0" }
}

name = "x"

plugins {
  platform = ["linux/amd64"]

  required_plugins {
  }
}

required_plugins "aws" {
}

plugins "x" {
}

# ERROR: 1:1 Unsupported block type
# ERROR: 4:1 Unsupported block type
# ERROR: 8:1 Unsupported argument
# ERROR: 12:1 Unsupported argument
# ERROR: 15:3 Unsupported argument
# ERROR: 17:3 Unsupported block type
# ERROR: 21:18 Extraneous label for required_plugins
# ERROR: 24:9 Extraneous label for plugins
