import Catalogs
import FileAccess
import Geometry
import Glibc
import JobModel
import Raster

/// Writes the folder of an ``IIIFService`` while the rows of its picture arrive, from top to bottom.
///
/// It holds a row of tiles of each level. Whole pictures wait in files without names, because an encoder asks for its rows
/// itself: their rows come at the same time as those of all others.
///
/// Each pixel of a level is the mean of up to four pixels of the level before, in stored values. The means have eight more
/// bits than samples, so that rounding them does not brighten small levels.
struct IIIFWriter {
    private let folder: String
    private let service: IIIFService
    private let layout: PixelLayout
    private var levels: [LevelRows]

    /// - Parameter folder: a new, empty folder.
    init(folder: String, service: IIIFService, layout: PixelLayout) throws {
        self.folder = folder
        self.service = service
        self.layout = layout
        levels = try service.levels.map { level in
            var rows = LevelRows()
            if !level.wholeSizes.isEmpty {
                let path = "\(folder)/.rows-\(level.factor)"
                rows.whole = try OutputFile(path: path, openedBy: FileOpener())
                unlink(path)
            }
            return rows
        }
    }

    /// What is known of a level.
    private struct LevelRows {
        /// The rows of the present row of tiles.
        var strip: [UInt8] = []
        /// The number of rows that came.
        var count = 0
        /// A row that waits for the next one, to become a row of the next level. It has eight more bits than samples.
        var upper: [UInt16]?
        /// All rows, of a level that is written as a whole.
        var whole: OutputFile?
    }

    /// Writes all pictures and `info.json`.
    ///
    /// - Parameter rows: as in ``ImageEncoder``. Its errors are thrown unchanged.
    mutating func write(_ rows: (Range<Int>) throws -> AnyRaster) throws {
        let height = service.levels[0].height
        let stride = service.levels[0].width * layout.channels
        for top in Swift.stride(from: 0, to: height, by: Self.step) {
            let wanted = top..<min(top + Self.step, height)
            guard case .u8(let raster) = try rows(wanted) else {
                preconditionFailure("rows have the shape that was announced")
            }
            for row in wanted {
                let start = raster.index(x: raster.rect.x, y: row)
                try add(raster.samples[start..<start + stride].map { UInt16($0) << 8 }, to: 0)
            }
        }
        for (index, level) in service.levels.enumerated() { try writeWhole(level, from: levels[index]) }
        let description = try OutputFile(path: "\(folder)/\(IIIFNames.descriptorName)", openedBy: FileOpener())
        _ = service.description.utf8.span.withUnsafeBytes { description.write($0) }  // the file stores the failure
        try description.finish()
    }

    /// The rows that are asked for together.
    private static let step = 64

    /// - Parameter row: has eight more bits than samples.
    private mutating func add(_ row: [UInt16], to index: Int) throws {
        let level = service.levels[index]
        let bytes = row.map { UInt8(($0 + 128) >> 8) }
        levels[index].count += 1
        let isLast = levels[index].count == level.height
        if let whole = levels[index].whole, !bytes.withUnsafeBytes({ whole.write($0) }) { throw failure(of: whole) }
        if level.isTiled {
            levels[index].strip += bytes
            if isLast || levels[index].count % service.tileSize == 0 { try writeTiles(of: index) }
        }
        guard index + 1 < levels.count else { return }
        if let upper = levels[index].upper.take() {
            try add(halved(upper, row), to: index + 1)
        } else if isLast {
            try add(halved(row, row), to: index + 1)
        } else {
            levels[index].upper = row
        }
    }

    /// A row of half the width, rounded up. The last column of an odd width counts twice.
    private func halved(_ upper: [UInt16], _ lower: [UInt16]) -> [UInt16] {
        let channels = layout.channels
        let width = upper.count / channels
        return [UInt16](unsafeUninitializedCapacity: (width + 1) / 2 * channels) { row, count in
            for column in 0..<(width + 1) / 2 {
                let left = 2 * column * channels
                let right = 2 * column + 1 < width ? left + channels : left
                for channel in 0..<channels {
                    let sum =
                        UInt32(upper[left + channel]) + UInt32(upper[right + channel])
                        + UInt32(lower[left + channel]) + UInt32(lower[right + channel])
                    row[column * channels + channel] = UInt16((sum + 2) / 4)
                }
            }
            count = (width + 1) / 2 * channels
        }
    }

    private mutating func writeTiles(of index: Int) throws {
        let (level, channels) = (service.levels[index], layout.channels)
        let strip = levels[index].strip
        levels[index].strip = []
        let rows = levels[index].count - strip.count / (level.width * channels)..<levels[index].count
        for (columns, path) in level.tiles(rows, side: service.tileSize, of: service.levels[0]) {
            var samples: [UInt8] = []
            samples.reserveCapacity(rows.count * columns.count * channels)
            for row in 0..<rows.count {
                let start = (row * level.width + columns.lowerBound) * channels
                samples += strip[start..<start + columns.count * channels]
            }
            let tile = Raster(
                rect: PixelRect(x: 0, y: 0, width: columns.count, height: rows.count), layout: layout, samples: samples)
            try writePicture(path, width: columns.count, height: rows.count) { _ in .u8(tile) }
        }
    }

    private func writeWhole(_ level: IIIFService.Level, from rows: LevelRows) throws {
        guard let whole = rows.whole else { return }
        let stride = level.width * layout.channels
        for size in level.wholeSizes {
            let path = IIIFNames.path(IIIFNames.whole, size)
            try writePicture(path, width: level.width, height: level.height) { wanted in
                guard let samples = whole.bytes(in: wanted.lowerBound * stride..<wanted.upperBound * stride) else {
                    throw failure(of: whole)
                }
                let rect = PixelRect(columns: 0..<level.width, rows: wanted)
                return .u8(Raster(rect: rect, layout: layout, samples: samples))
            }
        }
    }

    private func failure(of file: OutputFile) -> ImageFileError {
        ImageFileError(path: folder, .write, errno: file.failure ?? EIO)
    }

    /// - Parameter path: below the folder.
    private func writePicture(
        _ path: String, width: Int, height: Int, rows: (Range<Int>) throws -> AnyRaster
    ) throws {
        try makeFolders(for: path)
        try ImageEncoder.write(
            to: "\(folder)/\(path)", format: JPEGFormat(), save: service.save,
            shape: ImageShape(width: width, height: height, layout: layout, sampleFormat: .u8),
            metadata: ImageMetadata(), rows: rows)
    }

    private func makeFolders(for path: String) throws(ImageFileError) {
        let names = PathNames.all(in: path).dropLast()
        for end in names.indices {
            guard mkdir("\(folder)/\(names[...end].joined(separator: "/"))", 0o777) == 0 || errno == EEXIST else {
                throw ImageFileError(path: folder, .create, errno: errno)
            }
        }
    }
}
