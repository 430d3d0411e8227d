required_plugins {
  a = { version = "1.0.0", source = "https://registry.example.com/plugins/aws" }
  b = { version = "1.0.0", source = "registry.example.com/plugins/aws:1.2.0" }
  c = { version = "1.0.0", source = "user:secret@registry.example.com/plugins/aws" }
  d = { version = "1.0.0", source = "plugins/aws" }
  e = { version = "1.0.0", source = "registry.example.com/Plugins/AWS" }
  f = { version = "1.2", source = "registry.example.com/plugins/aws" }
  g = { version = "1.0.0, >= 01", source = "registry.example.com/plugins/aws" }
  h = { version = "latest", source = "registry.example.com/\u001b[31mplugins" }
}

# ERROR: 2:37 Invalid plugin source
# ERROR: 3:37 Invalid plugin source
# ERROR: 4:37 Invalid plugin source
# ERROR: 5:37 Invalid plugin source
# ERROR: 6:37 Invalid plugin source
# ERROR: 7:19 Invalid version constraint
# ERROR: 8:19 Invalid version constraint
# ERROR: 9:19 Invalid version constraint
# ERROR: 9:38 Invalid plugin source
