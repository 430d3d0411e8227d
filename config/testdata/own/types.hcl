required_plugins {
  a = { source = 1, version = 1.2 }
  b = { source = "", version = "" }
  c = { source = null, version = true }
  d = { source = ["x.example/y"], version = {} }
  e = ["x.example/y"]
  f = 3
  g = null
  h = "x.example/team/h"
  i = "~> 2.1"
  j = "anything"
  k {
    source = "x.example/y"
  }
  l "label" {
  }
  m = { source = "x.example/y", version = "1.0.0", protocols = 5, platforms = "linux/amd64", executable = 1 }
  n = { source = "x.example/y", version = "1.0.0", protocols = [], platforms = [], executable = {} }
  o = { source = "x.example/y", version = "1.0.0", protocols = [0, -1, 1.5, 1000001, "5"], platforms = [1, ""] }
}

# ERROR: 2:18 Value of the wrong type
# ERROR: 2:31 Value of the wrong type
# ERROR: 3:18 Value of the wrong type
# ERROR: 3:32 Value of the wrong type
# ERROR: 4:18 Value of the wrong type
# ERROR: 4:34 Value of the wrong type
# ERROR: 5:18 Value of the wrong type
# ERROR: 5:45 Value of the wrong type
# ERROR: 6:7 Value of the wrong type
# ERROR: 7:7 Value of the wrong type
# ERROR: 8:7 Value of the wrong type
# ERROR: 9:7 Value of the wrong type
# ERROR: 10:7 Value of the wrong type
# ERROR: 11:7 Value of the wrong type
# ERROR: 12:3 Attribute written as a block
# ERROR: 15:3 Attribute written as a block
# ERROR: 17:64 Value of the wrong type
# ERROR: 17:79 Value of the wrong type
# ERROR: 17:107 Value of the wrong type
# ERROR: 18:64 Value of the wrong type
# ERROR: 18:80 Value of the wrong type
# ERROR: 18:97 Value of the wrong type
# ERROR: 19:65 Value of the wrong type
# ERROR: 19:68 Value of the wrong type
# ERROR: 19:72 Value of the wrong type
# ERROR: 19:77 Value of the wrong type
# ERROR: 19:86 Value of the wrong type
# ERROR: 19:105 Value of the wrong type
# ERROR: 19:108 Value of the wrong type
