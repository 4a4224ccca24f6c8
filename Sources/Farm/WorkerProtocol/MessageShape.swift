/// Limits of a message. A message is measured before it is decoded, so that no message costs much memory.
package struct MessageLimits: Hashable, Sendable {
    /// Of the whole message.
    package let bytes: Int
    /// The levels of lists and objects within each other.
    package let depth: Int
    /// The number of values, names included.
    package let values: Int
    /// In bytes, as the message has it: a control character takes six.
    package let text: Int

    /// For orders. The longest real order, to stitch 65,536 tiles, has some 14 MB with paths of usual length. The deepest
    /// has some 20 levels.
    package static let orders = MessageLimits(bytes: 128 << 20, depth: 64, values: .max, text: .max)

    /// For what a worker sends. The longest real report, of a picture of 65,536 tiles, has some 4 MB and 600,000 values.
    /// The longest text is a failure's message of ``TaskFailure/longestMessage``. A decoded value takes some 25 bytes, so
    /// that a report never takes more than 70 MB.
    package static let reports = MessageLimits(bytes: 16 << 20, depth: 64, values: 2_000_000, text: 100_000)

    /// For shards, which have any number of orders.
    package static let shards = MessageLimits(bytes: 1 << 30, depth: 64, values: .max, text: .max)

    /// For results of shards, which have any number of reports.
    package static let results = MessageLimits(bytes: 1 << 30, depth: 64, values: .max, text: reports.text)

    /// The first limit that a JSON text exceeds. Nil if it exceeds none.
    func excess(of body: some Collection<UInt8>) -> FrameCodecError? {
        guard body.count <= bytes else { return .tooLong(bytes: body.count) }
        let shape = body.withContiguousStorageIfAvailable(MessageShape.init) ?? MessageShape(Array(body).span)
        if shape.depth > depth { return .tooDeep(limit: depth) }
        if shape.values > values { return .tooManyValues(limit: values) }
        return shape.longestText > text ? .tooLongText(bytes: shape.longestText) : nil
    }
}

/// What a JSON text needs to be decoded, counted without decoding it. The counts of a text that is no JSON mean nothing.
struct MessageShape: Hashable, Sendable {
    private(set) var depth = 0
    private(set) var values = 1
    private(set) var longestText = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.init(bytes.span) }

    init(_ bytes: Span<UInt8>) {
        var level = 0
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let start = index + 1
                index = Self.end(ofTextFrom: start, in: bytes)
                longestText = max(longestText, index - start)
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                level += 1
                values += 1
                depth = max(depth, level)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): level -= 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): values += 1
            default: break
            }
            index += 1
        }
    }

    /// The index of the quotation mark that ends the text.
    private static func end(ofTextFrom start: Int, in bytes: Span<UInt8>) -> Int {
        var index = start
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            // An escaped character may be a quotation mark.
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }
}
