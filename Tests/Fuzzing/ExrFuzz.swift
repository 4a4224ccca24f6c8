@testable import ImageFiles

/// Measures the parts of an OpenEXR file.
@c(LLVMFuzzerTestOneInput)
public func fuzzEXR(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    let parts = OpenEXRParts(size: bytes.count) { range in
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "nothing is read outside of the file")
        return Array(bytes[range])
    }
    if let damage = parts?.damage { precondition(!damage.isEmpty, "damage has words") }
    return 0
}
