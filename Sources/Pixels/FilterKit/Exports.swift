// Authors need rectangles, and functions that give the same bits everywhere, with no import of their own.
@_exported public import Arithmetic
@_exported public import Geometry
