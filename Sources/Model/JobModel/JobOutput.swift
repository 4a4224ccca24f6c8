public import Catalogs

/// One of a job's outputs: its path, its own filters, and how it is written.
public struct JobOutput: Hashable, Sendable, Codable {
    public var template: OutputTemplate
    /// Continues the job's common chain.
    public var chain: [FilterInvocation]
    /// Make frames of a picture after all filters, at the same time, each from the result of the one before. Empty for an
    /// output without animation.
    public var animations: [FilterInvocation]
    public var save: SaveOptions

    public init(
        template: OutputTemplate, chain: [FilterInvocation] = [], animations: [FilterInvocation] = [],
        save: SaveOptions = SaveOptions()
    ) {
        self.template = template
        self.chain = chain
        self.animations = animations
        self.save = save
    }

    /// The filters after the job's common chain.
    public var ownChain: [FilterInvocation] { chain + animations }

    /// The same with only the frame at the end of an animation, unless the output is one frame.
    public var shownChain: [FilterInvocation] {
        guard let last = animations.last, last.values[FilterInvocation.frame] == .word("all") else { return ownChain }
        let shown: [String: ParameterValue] = [
            FilterInvocation.frame: .word("last"), "there_and_back": .boolean(false),
        ]
        return ownChain.dropLast() + [
            FilterInvocation(filter: last.filter, values: last.values.merging(shown) { $1 })
        ]
    }

    /// The paths of the pictures that its own filters read, and of its colour profile.
    public var picturePaths: [String] { ownChain.picturePaths + save.profilePaths }

    /// The same with other references to these files.
    public func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> JobOutput {
        var output = self
        output.chain = chain.map { $0.mappingPictures(transform) }
        output.animations = animations.map { $0.mappingPictures(transform) }
        output.save = save.mappingProfile(transform)
        return output
    }
}

/// A parsed output path with `{…}` fields.
public struct OutputTemplate: Hashable, Sendable, Codable {
    public typealias Field = NameField

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

    /// Whether a name is known only after the picture was probed.
    public var needsProbe: Bool {
        needsContent || namesPages || pieces.contains(.field(.width)) || pieces.contains(.field(.height))
    }

    /// Whether each page of a file gets its own name.
    public var namesPages: Bool {
        pieces.contains { piece in
            if case .field(.frame) = piece { true } else { false }
        }
    }

    /// Whether a name depends on the day, or on the other inputs.
    public var namesOrder: Bool {
        pieces.contains { piece in
            switch piece {
            case .field(.date), .field(.index): true
            case .field, .literal: false
            }
        }
    }

    /// Whether a name is known only after the picture's bytes were read.
    public var needsContent: Bool { pieces.contains(.field(.hash8)) }
}

/// How outputs are written.
public struct SaveOptions: Hashable, Sendable, Codable {
    public let metadata: MetadataPolicy
    /// The colour behind transparent pictures in a format without alpha: red, green, blue, 0–255.
    public let background: [Int]
    /// The chain is computed with 16 bits, and rounded to 8 bits by a pattern that hides the steps.
    public let dither: Bool
    /// The samples that filters get from each other. Penumbra knew only those of the input before.
    public var precision: ChainPrecision
    public let depth: OutputDepth
    /// The colours of the file. Nil for those in which the filters worked.
    public var color: OutputColor?
    /// Texts about the picture that the output gets. Nil for none.
    public let texts: MetadataTexts?
    /// The format's own options, by name (`quality`, `compression`, …), as its descriptor types them.
    public var values: [String: ParameterValue]

    public init(
        metadata: MetadataPolicy = .keep, background: [Int] = [255, 255, 255], dither: Bool = false,
        precision: ChainPrecision = .input, depth: OutputDepth = .input, color: OutputColor? = nil,
        texts: MetadataTexts? = nil, values: [String: ParameterValue] = [:]
    ) {
        self.color = color
        self.texts = texts
        self.dither = dither
        self.precision = precision
        self.depth = depth
        self.metadata = metadata
        self.background = background
        self.values = values
    }
}

extension SaveOptions {
    private enum CodingKeys: CodingKey {
        case metadata, background, dither, precision, depth, color, texts, values
    }

    /// Options that were added later are missing in what earlier versions have stored.
    public init(from decoder: any Decoder) throws {
        let stored = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            metadata: try stored.decode(MetadataPolicy.self, forKey: .metadata),
            background: try stored.decode([Int].self, forKey: .background),
            dither: try stored.decode(Bool.self, forKey: .dither),
            precision: try stored.decodeIfPresent(ChainPrecision.self, forKey: .precision) ?? .input,
            depth: try stored.decodeIfPresent(OutputDepth.self, forKey: .depth) ?? .input,
            color: try stored.decodeIfPresent(OutputColor.self, forKey: .color),
            texts: try stored.decodeIfPresent(MetadataTexts.self, forKey: .texts),
            values: try stored.decode([String: ParameterValue].self, forKey: .values))
    }

    public func encode(to encoder: any Encoder) throws {
        var stored = encoder.container(keyedBy: CodingKeys.self)
        try stored.encode(metadata, forKey: .metadata)
        try stored.encode(background, forKey: .background)
        try stored.encode(dither, forKey: .dither)
        if precision != .input { try stored.encode(precision, forKey: .precision) }
        if depth != .input { try stored.encode(depth, forKey: .depth) }
        try stored.encodeIfPresent(color, forKey: .color)
        try stored.encodeIfPresent(texts, forKey: .texts)
        try stored.encode(values, forKey: .values)
    }
}

extension SaveOptions {
    /// The path of the colour profile, if a file has it.
    public var profilePaths: [String] { (color?.profile).map { [$0.path] } ?? [] }

    /// The same with another reference to the colour profile.
    public func mappingProfile(_ transform: (PictureReference) -> PictureReference) -> SaveOptions {
        var options = self
        options.color = color?.mappingProfile(transform)
        return options
    }
}

/// What wrote an output, and from what samples. Many outputs share one value.
public struct OutputEncoding: Hashable, Sendable, Codable {
    /// The libraries that wrote the file, with their versions: `libvips 8.14.1, libjpeg 62.3.0`.
    public let encoder: String
    /// The layout of the samples that the encoder got.
    public let layout: PixelLayout
    public let samples: SampleFormat
    /// More than one for an animation.
    public let frames: Int
    /// The factor by which the decoder shrank the input.
    public let shrink: Int
    /// The samples that the filters gave each other, if they are not those of the file. (Earlier versions have not stored them.)
    public let filterSamples: SampleFormat?
    /// Penumbra's version.
    public let penumbra: String

    public init(
        encoder: String, layout: PixelLayout, samples: SampleFormat, frames: Int, shrink: Int,
        filterSamples: SampleFormat? = nil, penumbra: String
    ) {
        self.filterSamples = filterSamples
        self.encoder = encoder
        self.layout = layout
        self.samples = samples
        self.frames = frames
        self.shrink = shrink
        self.penumbra = penumbra
    }
}

/// The pixels of an output, as its encoder got them.
public struct EncodedPixels: Hashable, Sendable, Codable {
    /// The digest of the digests of all bands, see docs/reference/receipts.md.
    public let digest: Digest
    public let encoding: OutputEncoding

    public init(digest: Digest, encoding: OutputEncoding) {
        self.digest = digest
        self.encoding = encoding
    }
}
