/// A parsed output path with `{…}` fields.
public struct OutputTemplate: Hashable, Sendable, Codable {
    public enum Field: Hashable, Sendable, Codable {
        /// The input's folder below the glob's part before its first wildcard; never `..`.
        case dir
        case stem
        case ext
        case job
        case width
        case height
        /// The input's place in sorted order, from 1, zero-padded to `digits`.
        case index(digits: Int)
        /// The page of a file that has several, from 1, zero-padded to `digits`.
        case frame(digits: Int)
        /// The run's date in UTC, `2026-11-21`.
        case date
        /// Eight hexadecimal digits that change with the input's bytes, the chain and the save options.
        case hash8
    }

    public enum Piece: Hashable, Sendable, Codable {
        case literal(String)
        case field(Field)
    }

    public let source: String
    public let pieces: [Piece]

    public init(source: String, pieces: [Piece]) {
        self.source = source
        self.pieces = pieces
    }

    /// True when a name is known only after the picture was probed.
    public var needsProbe: Bool {
        needsContent || namesPages || pieces.contains(.field(.width)) || pieces.contains(.field(.height))
    }

    /// True when each page of a file gets a name of its own.
    public var namesPages: Bool {
        pieces.contains { piece in
            if case .field(.frame) = piece { true } else { false }
        }
    }

    /// True when a name depends on the day, or on which other inputs there are.
    public var namesOrder: Bool {
        pieces.contains { piece in
            switch piece {
            case .field(.date), .field(.index): true
            case .field, .literal: false
            }
        }
    }

    /// True when a name is known only after the picture's bytes were read.
    public var needsContent: Bool { pieces.contains(.field(.hash8)) }
}
