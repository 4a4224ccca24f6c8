import Catalogs
package import Geometry
package import Raster

extension KernelSource {
    /// Copies stored pixels, bit for bit, to the coordinates of `target`'s rectangle.
    ///
    /// Where the target has an alpha that the raster lacks, pixels become opaque. Coordinates that are transparent are
    /// left alone, or zeros.
    ///
    /// - Precondition: the tables cover the target's rectangle; sample formats are the same.
    package func copyPixels(to target: inout AnyRaster) {
        switch raster {
        case .u8(let own): target.modifyU8 { copy(own, to: &$0) }
        case .u16(let own): target.modifyU16 { copy(own, to: &$0) }
        case .f32(let own): target.modifyF32 { copy(own, to: &$0) }
        }
    }

    private func copy<Sample: PixelSample>(_ own: Raster<Sample>, to other: inout Raster<Sample>) {
        precondition(other.layout == own.layout || other.layout == own.layout.addingAlpha, "only alpha may be added")
        let rect = other.rect
        if other.layout == own.layout {
            let pitch = other.stride * MemoryLayout<Sample>.stride
            other.samples.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { copyRows(rect, to: start, pitch: pitch) }
            }
        } else {
            copyAddingAlpha(own, to: &other)
        }
    }

    private func copyAddingAlpha<Sample: PixelSample>(_ own: Raster<Sample>, to other: inout Raster<Sample>) {
        let (rect, width) = (other.rect, other.layout.channels)
        let stored = own.layout.channels
        let from = own.samples.span
        var to = other.samples.mutableSpan
        var index = 0
        for y in rect.rows {
            for x in rect.columns {
                let (row, column) = (rows[y], columns[x])
                if row >= 0, column >= 0 {
                    let start = row * own.stride + column * stored
                    for channel in 0..<stored { to[index + channel] = from[start + channel] }
                    to[index + stored] = Sample(rounding: Sample.full)
                }
                index += width
            }
        }
    }

    /// Copies the stored pixels of `area` to memory, `pitch` bytes from row to row. Coordinates that are transparent
    /// become zeros.
    ///
    /// - Precondition: the tables cover `area`; `start` has room for its rows.
    package func copyRows(_ area: PixelRect, to start: UnsafeMutableRawPointer, pitch: Int) {
        guard !area.isEmpty else { return }
        let runs = columns.runs(in: area.columns)
        let isWhole = runs.reduce(0) { $0 + $1.count } == area.width
        let rowBytes = area.width * raster.layout.channels * raster.format.bytes
        for (index, y) in area.rows.enumerated() where !isWhole || rows[y] < 0 {
            (start + index * pitch).initializeMemory(as: UInt8.self, repeating: 0, count: rowBytes)
        }
        raster.withBytes { bytes in
            bytes.withUnsafeBytes { from in
                guard let from = from.baseAddress else { return }
                copyRows(area, runs, from, to: start, pitch: pitch)
            }
        }
    }

    private func copyRows(
        _ area: PixelRect, _ runs: [AxisTable.Run], _ from: UnsafeRawPointer, to start: UnsafeMutableRawPointer,
        pitch: Int
    ) {
        let pixelBytes = raster.layout.channels * raster.format.bytes
        let rowBytes = raster.rect.width * pixelBytes
        for (index, y) in area.rows.enumerated() where rows[y] >= 0 {
            let (row, target) = (from + rows[y] * rowBytes, start + index * pitch)
            for run in runs {
                (target + run.offset * pixelBytes).copyMemory(
                    from: row + run.position * pixelBytes, byteCount: run.count * pixelBytes)
            }
        }
    }
}

extension AxisTable {
    /// Coordinates that lie one behind the other in the raster.
    struct Run {
        /// From the first coordinate that was asked for.
        let offset: Int
        let position: Int
        private(set) var count: Int

        fileprivate func isContinued(by position: Int) -> Bool { position == self.position + count }
        fileprivate mutating func grow() { count += 1 }
    }

    /// What is not transparent of some coordinates, in as few pieces as possible.
    func runs(in coordinates: Range<Int>) -> [Run] {
        var runs: [Run] = []
        if let first = coordinates.first, let last = coordinates.last, self[first] >= 0,
            positions[(first - range.lowerBound)...(last - range.lowerBound)].isCounting
        {
            return [Run(offset: 0, position: self[first], count: coordinates.count)]
        }
        var isOpen = false
        for (offset, coordinate) in coordinates.enumerated() {
            let position = self[coordinate]
            guard position >= 0 else {
                isOpen = false
                continue
            }
            if isOpen, runs[runs.count - 1].isContinued(by: position) {
                runs[runs.count - 1].grow()
            } else {
                runs.append(Run(offset: offset, position: position, count: 1))
            }
            isOpen = true
        }
        return runs
    }
}

extension ArraySlice<Int32> {
    /// True when each number is one more than the one before. Without a branch for each, so that it is quick.
    fileprivate var isCounting: Bool {
        guard let first else { return true }
        var difference: Int32 = 0
        for (index, number) in enumerated() { difference |= number &- first &- Int32(truncatingIfNeeded: index) }
        return difference == 0
    }
}
