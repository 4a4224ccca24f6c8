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
    /// - Throws: ``ImageFileError``, or what `body` threw. Damage in the last rows may be found only after the last
    ///   band was lent.
    /// - Precondition: this is the decoder's first and only reading.
    package func readRows(bandHeight: Int, _ body: (AnyRaster) throws -> Void) throws {
        precondition(bandHeight > 0 && header.frames == 1, "a band has rows, and they are of one picture")
        let rows = try StoredRows(takeImage(), of: self)
        let body = { try body(self.delivered($0)) }
        if header.streams {
            try readStreaming(rows, bandHeight, body)
        } else {
            try readWhole(rows, bandHeight, body)
        }
    }

    /// Decodes an animation, or a picture as its only frame, and lends the frames in their order: whole rasters in
    /// coordinates that start at (0, 0). Otherwise like ``readRows(bandHeight:_:)``.
    package func readFrames(_ body: (AnyRaster) throws -> Void) throws {
        let source = try StoredRows(takeImage(), of: self)
        let (stored, upright) = (try wholeStore(), bandStore(header.height))
        let turning = self.turning(storedHeight: storedShape.height)
        for frame in 0..<header.frames {
            let top = frame * storedShape.height
            try source.decode(top..<top + storedShape.height, into: stored.bytes)
            turning.copy(rows: 0..<header.height, from: UnsafeRawBufferPointer(stored.bytes), into: upright.bytes)
            try body(delivered(raster(0..<header.height, from: upright)))
        }
        try source.finish()
    }

    /// For pictures whose upright rows are the file's rows, or those rows mirrored.
    private func readStreaming(
        _ source: consuming StoredRows, _ bandHeight: Int, _ body: (AnyRaster) throws -> Void
    ) throws {
        if orientation == .upright {
            for rows in bands(of: bandHeight) {
                try body(filledRaster(rows) { try source.decode(rows, into: $0) })
            }
            return try source.finish()
        }
        let (stored, upright) = (bandStore(bandHeight), bandStore(bandHeight))
        let turning = self.turning(storedHeight: bandHeight)
        for rows in bands(of: bandHeight) {
            try source.decode(rows, into: stored.bytes)
            turning.copy(rows: 0..<rows.count, from: UnsafeRawBufferPointer(stored.bytes), into: upright.bytes)
            try body(raster(rows, from: upright))
        }
        try source.finish()
    }

    /// For pictures that are turned: every upright band needs the whole file.
    private func readWhole(
        _ source: consuming StoredRows, _ bandHeight: Int, _ body: (AnyRaster) throws -> Void
    ) throws {
        let stored = try wholeStore()
        try source.decode(0..<storedShape.height, into: stored.bytes)
        try source.finish()
        let upright = bandStore(bandHeight)
        let turning = self.turning(storedHeight: storedShape.height)
        for rows in bands(of: bandHeight) {
            turning.copy(rows: rows, from: UnsafeRawBufferPointer(stored.bytes), into: upright.bytes)
            try body(raster(rows, from: upright))
        }
    }

    private func bands(of bandHeight: Int) -> some Sequence<Range<Int>> {
        let height = header.height
        return stride(from: 0, to: height, by: bandHeight).lazy.map { $0..<min($0 + bandHeight, height) }
    }

    private func turning(storedHeight: Int) -> Turning {
        Turning(
            orientation, storedWidth: storedShape.width, storedHeight: storedHeight,
            pixelBytes: header.layout.channels * shape.sampleFormat.bytes)
    }

    private func bandStore(_ bandHeight: Int) -> PixelStore {
        PixelStore(byteCount: min(bandHeight, header.height) * shape.stride)
    }

    private func wholeStore() throws(ImageFileError) -> PixelStore {
        do throws(PixelStore.Failure) {
            return try PixelStore(byteCount: storedShape.byteCount, limits: limits)
        } catch {
            throw ImageFileError(path: file.path, .system(.turn, errno: error.errno))
        }
    }

    private func filledRaster(
        _ rows: Range<Int>, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) rethrows -> AnyRaster {
        try AnyRaster(
            rect: PixelRect(columns: 0..<header.width, rows: rows), layout: header.layout, format: shape.sampleFormat,
            filling: fill)
    }

    private func raster(_ rows: Range<Int>, from store: PixelStore) -> AnyRaster {
        let bytes = UnsafeRawBufferPointer(rebasing: store.bytes[..<(rows.count * shape.stride)])
        return AnyRaster(
            bytes: bytes.bytes, rect: PixelRect(columns: 0..<header.width, rows: rows), layout: header.layout,
            format: shape.sampleFormat)
    }

    /// What was decoded, as filters take it.
    func delivered(_ raster: AnyRaster) -> AnyRaster {
        if isLinear { return raster.encodedFromLinear() }
        guard case .u8(let bytes) = raster, header.sampleFormat == .u16 else { return raster }
        return .u16(Raster(rect: bytes.rect, layout: bytes.layout, samples: bytes.samples.map { UInt16($0) &* 257 }))
    }
}
