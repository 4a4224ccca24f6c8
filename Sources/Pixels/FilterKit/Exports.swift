// Authors get rectangles, and functions with the same bits on every machine, without another import.
@_exported public import Arithmetic
@_exported public import Geometry
