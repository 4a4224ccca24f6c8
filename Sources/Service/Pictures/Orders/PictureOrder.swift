import Catalogs
import ContentNames
package import Geometry
package import JobModel
import WorkerProtocol

/// A file that a picture is made of.
package struct PictureSource: Hashable, Sendable {
    /// What tells one content from another.
    package enum Content: Hashable, Sendable {
        /// The file has been published or read with this digest.
        case digest(Digest)
        /// No digest is known. Another stamp is another picture.
        case stamp
    }

    /// Absolute, for people. ``bytes`` has the exact path.
    package let path: String
    /// The exact path if it is not UTF-8.
    package let bytes: [UInt8]?
    /// From 0.
    package let page: Int
    /// What the file was when the picture was ordered. A file that changes meanwhile gives no picture.
    package let stamp: FileStamp
    package let content: Content
    /// The folders that the picture's run may read. The kernel keeps the worker within them. Nil for a run without limits.
    package let roots: [String]?

    package init(
        path: String, bytes: [UInt8]? = nil, page: Int = 0, stamp: FileStamp, content: Content, roots: [String]? = nil
    ) {
        self.stamp = stamp
        self.path = path
        self.bytes = bytes
        self.page = page
        self.content = content
        self.roots = roots
    }
}

/// What a worker makes of a file for the page.
package struct PictureOrder: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The digest of the whole file, as 32 hexadecimal digits.
        case digest
        /// ``PictureFacts`` as JSON.
        case facts
        /// The whole picture as WebP in sRGB. No side is longer.
        case thumbnail(width: Int)
        case crop(PictureCrop)
        /// A large picture at several sizes, in files of a ``LevelStore``. The answer has no bytes.
        case levels(PictureLevels)
    }

    /// How the worker reads the picture for a crop.
    ///
    /// The second and the third way give the same pixels. So parts of a large picture fit together, however each of them was read.
    package enum Reading: Hashable, Sendable {
        /// A decoder may reduce the picture itself, which is faster than a filter.
        case usual
        case allPixels
        /// From the file at this path, which has the whole picture at the crop's scale.
        case level(String)
    }

    package let source: PictureSource
    package let kind: Kind
    package let reading: Reading

    package init(_ source: PictureSource, _ kind: Kind, reading: Reading = .usual) {
        self.source = source
        self.kind = kind
        self.reading = reading
    }

    /// The longest side of a thumbnail.
    package static let thumbnailRange = 1...2048

    /// Equal pictures have one key. Files of the cache have its digest as their names, and answers of the service have it as their
    /// tags.
    ///
    /// The roots are a part of it: a hostile picture could make its worker write anything, and no other token shall get that.
    package var key: String {
        var parts = [Version.penumbra, Version.rendering, "page \(source.page)"]
        switch source.content {
        case .digest(let digest): parts.append("digest \(digest)")
        case .stamp:
            let stamp = source.stamp
            let times = "\(stamp.modified) \(stamp.changed)"
            parts.append("stamp \(stamp.device) \(stamp.inode) \(stamp.size) \(times) \(source.path.utf8.count)")
            parts.append(source.path)
        }
        switch kind {
        case .digest: parts.append("digest")
        case .facts: parts.append("facts")
        case .thumbnail(let width): parts.append("thumbnail \(width)")
        case .crop(let crop):
            let rect = crop.part
            parts.append("crop \(rect.x) \(rect.y) \(rect.width) \(rect.height) \(crop.scale)")
        case .levels(let levels):
            parts.append("levels \(levels.width) \(levels.height) \(levels.scales.count)")
        }
        parts += source.roots?.map { "\($0.utf8.count) \($0)" } ?? ["all"]
        return parts.joined(separator: "\n")
    }

    /// 64 hexadecimal digits. Nil if the library has no SHA-256.
    package var name: String? { SHA256Stream.digest(of: Array(key.utf8)) }
}

/// A part of a picture, reduced or with its exact pixels.
package struct PictureCrop: Hashable, Sendable {
    /// One pixel of the answer stands for so many pixels of the picture along each side. A power of two.
    package let scale: Int
    /// In pixels of the reduced picture.
    package let part: PixelRect
    /// The size of the whole reduced picture.
    package let width: Int
    package let height: Int

    /// The longest side of an answer.
    package static let longestSide = 1024
    package static let largestScale = 4096

    /// - Parameters:
    ///   - rect: In pixels of the picture. The part begins at a multiple of the scale, at or before the rectangle, and is cut at the
    ///     picture's edges.
    ///   - width: Of the whole picture.
    /// - Throws: ``PictureError/unsuitable(_:)`` for a rectangle outside of the picture, or too large for one answer.
    package init(_ rect: PixelRect, scale: Int, ofWidth width: Int, height: Int) throws(PictureError) {
        guard Self.isScale(scale) else {
            throw .unsuitable("scale: \(scale) is none of 1, 2, 4, 8 and so on up to \(Self.largestScale)")
        }
        let whole = PixelRect(x: 0, y: 0, width: width, height: height)
        let visible = rect.intersection(whole)
        guard !visible.isEmpty, rect.x >= 0, rect.y >= 0 else {
            throw .unsuitable(
                "the rectangle of \(rect.width)×\(rect.height) pixels at \(rect.x),\(rect.y) lies outside of the picture, which has "
                    + "\(width)×\(height)\n   = x and y are those of its first pixel, from 0")
        }
        let (right, bottom) = (Self.reduced(visible.right, by: scale), Self.reduced(visible.bottom, by: scale))
        let part = PixelRect(columns: visible.x / scale..<right, rows: visible.y / scale..<bottom)
        guard max(part.width, part.height) <= Self.longestSide else {
            throw .unsuitable(
                "the answer would have \(part.width)×\(part.height) pixels, and \(Self.longestSide) is the most along a side\n   = "
                    + "ask for several parts, or for a larger scale")
        }
        self.scale = scale
        self.part = part
        self.width = Self.reduced(width, by: scale)
        self.height = Self.reduced(height, by: scale)
    }

    private static func isScale(_ scale: Int) -> Bool {
        (1...largestScale).contains(scale) && scale & (scale - 1) == 0
    }

    /// Rounded up, so that the last pixels of the picture are shown.
    static func reduced(_ length: Int, by scale: Int) -> Int { (length + scale - 1) / scale }
}

/// What the page says of a picture, as its file has it.
package struct PictureFacts: Hashable, Sendable, Codable {
    /// In pixels, upright.
    package var width: Int
    package var height: Int
    /// The name of the file's format.
    package var format: String
    /// The channels: `gray`, `grayAlpha`, `rgb` or `rgba`.
    package var layout: String
    /// `u8`, `u16` or `f32`.
    package var samples: String
    /// The pages or frames in the file.
    package var frames: Int

    package init(width: Int, height: Int, format: String, layout: String, samples: String, frames: Int) {
        self.width = width
        self.height = height
        self.format = format
        self.layout = layout
        self.samples = samples
        self.frames = frames
    }
}
