required_plugins {
  a = { source = "x.example/y", versoin = "~> 1.2" }
  b = { Source = "x.example/y", version = "~> 1.2" }
  c = { source = "x.example/y", version = "~> 1.2", sha256 = "0" }
  d = { source = "x.example/y", source = "x.example/z", version = "1.0.0", "version" = "1.0.0" }
  e = {}
  f = { version = "1.0.0" }
  g = { source = "x.example/y", version = "1.0.0", executeable = "/x" }
}

# ERROR: 2:33 Unknown attribute
# ERROR: 3:9 Unknown attribute
# ERROR: 4:53 Unknown attribute
# ERROR: 5:33 Attribute set twice
# ERROR: 5:76 Attribute set twice
# ERROR: 6:3 Attribute missing
# ERROR: 6:3 Attribute missing
# ERROR: 7:3 Attribute missing
# ERROR: 8:52 Unknown attribute
