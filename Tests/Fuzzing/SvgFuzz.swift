@testable import ImageFiles

/// Estimates the work for a drawing.
@c(LLVMFuzzerTestOneInput)
public func fuzzSVG(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    _ = SVGFormat().recognizes(bytes)
    // A text that cannot be analysed is an ordinary result.
    guard let drawing = try? SVGDrawing(bytes) else { return 0 }
    for (width, height) in [(0, 0), (640, 480), (100_000, 100_000)] {
        _ = drawing.excess(over: 10, width: width, height: height)
    }
    return 0
}
