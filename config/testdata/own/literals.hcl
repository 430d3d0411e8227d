required_plugins {
  a = { source = "${REGISTRY}/plugins/aws", version = var.aws_version }
  b = { source = lower("x.example/y"), version = "1." + 2 }
  c = var.c
  d = merge({}, {})
  e = { source = "x.example/y", version = "~> ${1}.2", protocols = [five], platforms = [for p in [] : p] }
  f = { source = ("x.example/y"), version = "%{if true}1.0.0%{endif}", (name) = 1, "${x}" = 2, linux/amd64 = 3 }
}

# ERROR: 2:18 Value is not a literal
# ERROR: 2:55 Value is not a literal
# ERROR: 3:18 Value is not a literal
# ERROR: 3:50 Value is not a literal
# ERROR: 4:7 Value is not a literal
# ERROR: 5:7 Value is not a literal
# ERROR: 6:43 Value is not a literal
# ERROR: 6:69 Value is not a literal
# ERROR: 6:88 Value is not a literal
# ERROR: 7:18 Value is not a literal
# ERROR: 7:45 Value is not a literal
# ERROR: 7:72 Name is not a literal
# ERROR: 7:84 Name is not a literal
# ERROR: 7:96 Name is not a literal
