import Catalogs
import Geometry
package import Raster

extension ImageDecoder {
    /// Decodes the picture and lends its bands, from top to bottom, each of them once.
    ///
    /// - Parameters:
    ///   - bandHeight: rows of a band; the last one may have fewer.
    ///   - body: gets rasters of the picture's full width, in coordinates that start at (0, 0). What it throws ends
    ///     the reading and is thrown on.
    /// - Throws: ``ImageFileError``, or what `body` threw.
    /// - Precondition: this is the decoder's first and only reading.
    package func readRows(bandHeight: Int, _ body: (AnyRaster) throws -> Void) throws {
        precondition(bandHeight > 0, "a band has rows")
        use()
        if header.streams {
            try readStreaming(bandHeight, body)
        } else {
            try readWhole(bandHeight, body)
        }
    }

    /// For pictures whose upright rows are the file's rows, or those rows mirrored.
    private func readStreaming(_ bandHeight: Int, _ body: (AnyRaster) throws -> Void) throws {
        let reader = try rowReader()
        let stored = bandStore(bandHeight)
        let upright = orientation == .upright ? stored : bandStore(bandHeight)
        let turning = self.turning(storedHeight: bandHeight)
        for rows in bands(of: bandHeight) {
            try decode(rows, with: reader, into: stored.bytes)
            if orientation != .upright {
                turning.copy(rows: 0..<rows.count, from: UnsafeRawBufferPointer(stored.bytes), into: upright.bytes)
            }
            try body(raster(rows, from: upright))
        }
    }

    /// For pictures that are turned: every upright band needs the whole file.
    private func readWhole(_ bandHeight: Int, _ body: (AnyRaster) throws -> Void) throws {
        let stored = try wholeStore()
        try decode(0..<picture.shape.height, with: rowReader(), into: stored.bytes)
        let upright = bandStore(bandHeight)
        let turning = self.turning(storedHeight: picture.shape.height)
        for rows in bands(of: bandHeight) {
            turning.copy(rows: rows, from: UnsafeRawBufferPointer(stored.bytes), into: upright.bytes)
            try body(raster(rows, from: upright))
        }
    }

    private func bands(of bandHeight: Int) -> some Sequence<Range<Int>> {
        stride(from: 0, to: header.height, by: bandHeight).lazy.map { $0..<min($0 + bandHeight, self.header.height) }
    }

    private func bandStore(_ bandHeight: Int) -> PixelStore {
        PixelStore(byteCount: min(bandHeight, header.height) * header.shape.stride)
    }

    private func turning(storedHeight: Int) -> Turning {
        Turning(
            orientation, storedWidth: picture.shape.width, storedHeight: storedHeight,
            pixelBytes: header.layout.channels * header.sampleFormat.bytes)
    }

    private func raster(_ rows: Range<Int>, from store: PixelStore) -> AnyRaster {
        let bytes = UnsafeRawBufferPointer(rebasing: store.bytes[..<(rows.count * header.shape.stride)])
        return AnyRaster(
            bytes: bytes.bytes, rect: PixelRect(columns: 0..<header.width, rows: rows), layout: header.layout,
            format: header.sampleFormat)
    }
}

extension ImageDecoder {
    /// Rows that libvips decodes in one go. Few, so that an error can say how far the file is whole.
    private static let step = 16

    private func decode(
        _ rows: Range<Int>, with reader: borrowing RowReader, into buffer: UnsafeMutableRawBufferPointer
    ) throws(ImageFileError) {
        var rest = UnsafeMutableRawBufferPointer(rebasing: buffer[...])
        for top in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.step) {
            let some = top..<min(top + Self.step, rows.upperBound)
            do throws(VipsFailure) {
                try reader.read(some, into: rest)
            } catch {
                throw broken(after: top, error)
            }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest[(some.count * picture.shape.stride)...])
        }
    }

    private func rowReader() throws(ImageFileError) -> RowReader {
        do throws(VipsFailure) {
            return try RowReader(picture.image)
        } catch {
            throw broken(after: 0, error)
        }
    }

    private func broken(after rows: Int, _ failure: VipsFailure) -> ImageFileError {
        if let errno = file.failure { return ImageFileError(path: file.path, .read, errno: errno) }
        return ImageFileError(
            path: file.path,
            .broken(format: formatTitle, rows: rows, height: picture.shape.height, detail: failure.line))
    }

    private func wholeStore() throws(ImageFileError) -> PixelStore {
        do throws(PixelStore.Failure) {
            return try PixelStore(byteCount: picture.shape.byteCount, limits: limits)
        } catch {
            throw ImageFileError(path: file.path, .turn, errno: error.errno)
        }
    }
}
