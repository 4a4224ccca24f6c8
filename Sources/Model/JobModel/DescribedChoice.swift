/// A value that is one of a few words, each with a sentence that says what the word does.
///
/// The sentences are the only ones: help topics, manual pages and the reference take them from here.
package protocol DescribedChoice: CaseIterable, RawRepresentable<String>, Sendable {
    /// A whole sentence.
    var sentence: String { get }
}

/// A word of a choice, and what it does.
package struct DescribedWord: Hashable, Sendable, Codable {
    package let word: String
    package let sentence: String

    package init(_ word: String, _ sentence: String) {
        self.word = word
        self.sentence = sentence
    }
}

extension DescribedChoice {
    package static var words: [DescribedWord] { allCases.map { DescribedWord($0.rawValue, $0.sentence) } }
}

extension ColorPolicy: DescribedChoice {
    package var sentence: String {
        switch self {
        case .keep: "Filters work in the colour space of the picture, and the output keeps it."
        case .srgb: "Penumbra converts each picture to sRGB before its filters."
        }
    }
}

extension NamedColorSpace: DescribedChoice {
    package var sentence: String {
        switch self {
        case .srgb: "The output is in sRGB, without a profile. Gray pictures stay gray."
        case .p3: "The output is in Display P3, the space of many screens, and has its profile."
        case .adobe: "The output is in a space like Adobe RGB (1998), and has its profile."
        case .gray: "The output is gray, with the curve of sRGB and without a profile."
        }
    }
}

extension OutputColor {
    /// The spaces that are one word. A manifest also takes the path of a profile.
    package static let describedWords =
        [DescribedWord("keep", "The output has the colours in which the filters worked: see `color` of the job.")]
        + NamedColorSpace.words
}

extension RenderingIntent: DescribedChoice {
    package var sentence: String {
        switch self {
        case .perceptual:
            "All colours move a little, so that differences between them stay visible. The profile's maker decided how."
        case .relative:
            "Colours that the device can show stay as they are, relative to its white. Others become the nearest ones."
        case .saturation: "Colours stay strong, even if they change. It suits charts."
        case .absolute: "Like `relative`, but white becomes the colour of the paper. It suits proofs."
        }
    }
}

extension ChainPrecision: DescribedChoice {
    package var sentence: String {
        switch self {
        case .auto:
            "Like `input`, except for an output with at least two filters that compute colours. They give each other 16 "
                + "bits instead of 8, if Penumbra estimates that the picture takes at most 15 % longer."
        case .input:
            "Filters compute with the samples of the picture's file. If `depth` or `dither` needs finer ones, they compute "
                + "with those."
        case .u8: "Filters give each other 8 bits."
        case .u16: "Filters give each other 16 bits."
        case .f32: "Filters give each other floating-point numbers, which may lie below black or above white."
        }
    }
}

extension OutputDepth: DescribedChoice {
    package var sentence: String {
        switch self {
        case .input: "The output has the samples of the picture's file, or the finest integers of its format."
        case .u8: "The output has 8 bits for each sample."
        case .u16: "The output has 16 bits for each sample. AVIF and HEIC store 12 of them."
        case .f32: "The output has 32-bit floating-point samples."
        }
    }
}

extension MetadataTexts.Field: DescribedChoice {
    package var sentence: String {
        switch self {
        case .copyright: "Who has which rights, such as © 2026 Ann Example."
        case .creator: "Who made the picture."
        case .title: "A short name of the picture."
        case .description: "What the picture shows."
        case .credit: "Whom to name beside the picture."
        case .keywords: "Words by which the picture is found."
        }
    }
}

extension FailedOutputPolicy: DescribedChoice {
    package var sentence: String {
        switch self {
        case .keep: "If a picture cannot be rendered any more, its earlier outputs stay."
        case .remove:
            "If a picture is broken now, or a value does not suit it, Penumbra removes its earlier outputs. It removes only "
                + "files that it published itself and nobody edited. If more than 20 outputs and more than a tenth of the job's "
                + "would go, it removes none. `verify --repair` removes none, either."
        }
    }
}

extension ShardMode: DescribedChoice {
    package var sentence: String {
        switch self {
        case .auto: "Penumbra cuts a frame into tiles if it is too large for one worker, or if workers would be idle."
        case .frame: "One worker renders the whole frame."
        case .tile: "Penumbra cuts each frame into tiles, which all workers render together."
        }
    }
}

extension ExistingPolicy: DescribedChoice {
    package var sentence: String {
        switch self {
        case .update:
            "Penumbra renders an output again if its picture or its settings changed. It replaces only files that it "
                + "published itself."
        case .overwrite: "Penumbra renders every output again, and replaces any file at its path."
        case .skip: "Penumbra leaves every file that exists as it is."
        case .error: "A frame fails if a file exists at the path of its output."
        }
    }
}

extension VerifyLevel: DescribedChoice {
    package var sentence: String {
        switch self {
        case .digest: "Penumbra compares the digests of all tiles and files."
        case .audit:
            "Penumbra also renders a random sample again, on another worker and with shifted borders of tiles."
        case .full: "Penumbra also decodes the written file and compares its pixels."
        }
    }
}

extension ComparePolicy: DescribedChoice {
    package var sentence: String {
        switch self {
        case .stamp:
            "Penumbra compares size, time and inode. If these differ, it compares the bytes."
        case .size:
            "Penumbra compares the size alone. Choose this for file systems whose times and inodes are not stable."
        case .content: "Penumbra reads each file and compares its bytes."
        }
    }
}

extension UpgradePolicy: DescribedChoice {
    package var sentence: String {
        switch self {
        case .keep: "Penumbra keeps such outputs until their pictures or settings change."
        case .rerender: "Penumbra renders such outputs again."
        }
    }
}

extension Durability: DescribedChoice {
    package var sentence: String {
        switch self {
        case .file: "Penumbra writes each output to the disk before it puts it in place."
        case .batch:
            "Penumbra writes many outputs, writes their file system to the disk once, and then puts all of them in place."
        }
    }
}

extension ReceiptPolicy: DescribedChoice {
    package var sentence: String {
        switch self {
        case .none: "Penumbra writes no receipts."
        case .sidecar: "Penumbra writes a receipt, a small JSON file, beside each output."
        }
    }
}

extension MetadataPolicy {
    /// The policies that are one word.
    package static let describedWords = [
        DescribedWord(
            "keep", "An output keeps all metadata of its picture that its format holds, except for embedded previews."),
        DescribedWord(
            "public",
            "An output keeps credit, description, dates and camera settings. It keeps no location, no serial numbers, and "
                + "no owner."),
        DescribedWord("icc", "An output keeps only the colour profile."),
        DescribedWord("strip", "An output has no metadata."),
    ]
}

extension MetadataKind: DescribedChoice {
    package var sentence: String {
        switch self {
        case .icc: "The colour profile."
        case .copyright: "The copyright notice."
        case .creator: "The author and the credit line."
        case .description: "The title, the headline and the description."
        case .dates: "When the picture was taken and changed, without a time zone."
        case .gps: "Where the picture was taken: coordinates and names of places."
        case .camera: "The camera and its settings, without serial numbers."
        case .keywords: "The keywords."
        case .resolution: "The pixels per inch."
        }
    }
}

extension EngineName: DescribedChoice {
    package var sentence: String {
        switch self {
        case .local: "Worker processes on this machine do the work."
        case .slurm: "Job arrays of a Slurm cluster do the work."
        case .commands: "Any cluster does the work, through the four commands of the setting 'commands'."
        }
    }
}
