public import Catalogs

/// One of a job's outputs: where it goes, what is done for it alone, and how it is written.
public struct JobOutput: Hashable, Sendable, Codable {
    public var template: OutputTemplate
    /// Continues the job's common chain.
    public var chain: [FilterInvocation]
    /// What makes frames of a picture, after all filters; nil for an output that shows it as it is.
    public var animation: FilterInvocation?
    public var save: SaveOptions

    public init(
        template: OutputTemplate, chain: [FilterInvocation] = [], animation: FilterInvocation? = nil,
        save: SaveOptions = SaveOptions()
    ) {
        self.template = template
        self.chain = chain
        self.animation = animation
        self.save = save
    }

    /// What follows the job's common chain.
    public var ownChain: [FilterInvocation] { chain + (animation.map { [$0] } ?? []) }

    /// The same, with the last frame of an animation, unless it is one frame alone.
    public var shownChain: [FilterInvocation] {
        guard let animation, animation.values[FilterInvocation.frame] == .word("all") else { return ownChain }
        let last = animation.values.merging([FilterInvocation.frame: .word("last")]) { $1 }
        return chain + [FilterInvocation(filter: animation.filter, values: last)]
    }

    /// The same with other references to the pictures that its filters read.
    public func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> JobOutput {
        var output = self
        output.chain = chain.map { $0.mappingPictures(transform) }
        output.animation = animation?.mappingPictures(transform)
        return output
    }
}

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

/// How outputs are written.
public struct SaveOptions: Hashable, Sendable, Codable {
    public let metadata: MetadataPolicy
    /// What shows through where a format without alpha gets a transparent picture: red, green, blue, 0–255.
    public let background: [Int]
    /// The chain is computed with 16 bits, and the output has 8, rounded by a pattern that hides the steps.
    public let dither: Bool
    /// The format's own options, by name (`quality`, `compression`, …), as its descriptor types them.
    public let values: [String: ParameterValue]

    public init(
        metadata: MetadataPolicy = .keep, background: [Int] = [255, 255, 255], dither: Bool = false,
        values: [String: ParameterValue] = [:]
    ) {
        self.dither = dither
        self.metadata = metadata
        self.background = background
        self.values = values
    }
}

/// What wrote an output, and of what samples. Many outputs have it in common.
public struct OutputEncoding: Hashable, Sendable, Codable {
    /// The libraries that wrote the file, with their versions: `libvips 8.14.1, libjpeg 62.3.0`.
    public let encoder: String
    /// Of the samples that the encoder was given.
    public let layout: PixelLayout
    public let samples: SampleFormat
    /// More than one of an animation.
    public let frames: Int
    /// The decoder of the input made it so many times smaller.
    public let shrink: Int
    /// Penumbra's version.
    public let penumbra: String

    public init(
        encoder: String, layout: PixelLayout, samples: SampleFormat, frames: Int, shrink: Int, penumbra: String
    ) {
        self.encoder = encoder
        self.layout = layout
        self.samples = samples
        self.frames = frames
        self.shrink = shrink
        self.penumbra = penumbra
    }
}

/// An output's pixels as its encoder was given them.
public struct EncodedPixels: Hashable, Sendable, Codable {
    /// Of the digests of all bands, see docs/receipts.md.
    public let digest: Digest
    public let encoding: OutputEncoding

    public init(digest: Digest, encoding: OutputEncoding) {
        self.digest = digest
        self.encoding = encoding
    }
}
