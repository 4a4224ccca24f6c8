/// The bytes that libFuzzer made, from which a target takes what it needs.
struct Input {
    private var rest: ArraySlice<UInt8>

    init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        rest = Array(UnsafeBufferPointer(start: start, count: count))[...]
    }

    /// All bytes that are left.
    var bytes: [UInt8] { Array(rest) }

    /// All that is left, as text. Bytes that are not UTF-8 become U+FFFD.
    var text: String { String(decoding: rest, as: UTF8.self) }

    /// Takes a number below `limit`. It is 0 at the end.
    mutating func choice(_ limit: Int) -> Int { Int(rest.popFirst() ?? 0) % limit }

    /// The bytes between zero bytes, at most so many parts. The last one is all that is left.
    func parts(_ most: Int) -> [[UInt8]] {
        rest.split(separator: 0, maxSplits: most - 1, omittingEmptySubsequences: false).map(Array.init)
    }
}
