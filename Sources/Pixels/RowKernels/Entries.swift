// The functions that other modules call. They select specialisations by numbers. Only pointers and numbers cross this border,
// so that no code of the standard library is specialised here; see ARCHITECTURE.md, "CPU levels".

public typealias ByteRows = UnsafePointer<UnsafePointer<UInt8>>
public typealias WordRows = UnsafePointer<UnsafePointer<UInt16>>

/// See ``halve(_:_:_:count:bias:scratch:out:)``.
@inline(never) public func halveBytes(
    _ rows: ByteRows, channels: Int, taps: Int, count: Int, bias: UInt16, scratch: UnsafeMutablePointer<UInt16>,
    out: UnsafeMutablePointer<UInt16>
) {
    chooseHalve(rows, channels, taps, count, bias, scratch, out)
}

/// See ``halve(_:_:_:count:bias:scratch:out:)``.
@inline(never) public func halveWords(
    _ rows: WordRows, channels: Int, taps: Int, count: Int, bias: UInt16, scratch: UnsafeMutablePointer<UInt16>,
    out: UnsafeMutablePointer<UInt16>
) {
    chooseHalve(rows, channels, taps, count, bias, scratch, out)
}

@inline(__always) private func chooseHalve<Sample: FixedSample>(
    _ rows: UnsafePointer<UnsafePointer<Sample>>, _ channels: Int, _ taps: Int, _ count: Int, _ bias: UInt16,
    _ scratch: UnsafeMutablePointer<UInt16>, _ out: UnsafeMutablePointer<UInt16>
) {
    @inline(__always) func run<Pixels: Interleaving>(_: Pixels.Type) {
        switch taps {
        case 3: halve(Pixels.self, ThreeTaps.self, rows, count: count, bias: bias, scratch: scratch, out: out)
        case 4: halve(Pixels.self, FourTaps.self, rows, count: count, bias: bias, scratch: scratch, out: out)
        case 5: halve(Pixels.self, FiveTaps.self, rows, count: count, bias: bias, scratch: scratch, out: out)
        case 6: halve(Pixels.self, SixTaps.self, rows, count: count, bias: bias, scratch: scratch, out: out)
        default: halve(Pixels.self, EightTaps.self, rows, count: count, bias: bias, scratch: scratch, out: out)
        }
    }
    switch channels {
    case 1: run(OneChannel.self)
    case 2: run(TwoChannels.self)
    case 3: run(ThreeChannels.self)
    default: run(FourChannels.self)
    }
}

/// See ``quarter(_:_:count:scratch:out:)``.
@inline(never) public func quarterBytes(
    _ rows: ByteRows, channels: Int, count: Int, scratch: UnsafeMutablePointer<UInt16>,
    out: UnsafeMutablePointer<UInt16>
) {
    switch channels {
    case 1: quarter(OneChannel.self, rows, count: count, scratch: scratch, out: out)
    case 2: quarter(TwoChannels.self, rows, count: count, scratch: scratch, out: out)
    case 3: quarter(ThreeChannels.self, rows, count: count, scratch: scratch, out: out)
    default: quarter(FourChannels.self, rows, count: count, scratch: scratch, out: out)
    }
}

/// See ``double(_:_:_:isOdd:count:scratch:out:)``.
@inline(never) public func doubleWords(
    _ rows: WordRows, channels: Int, taps: Int, isOdd: Bool, count: Int, scratch: UnsafeMutablePointer<UInt16>,
    out: UnsafeMutablePointer<UInt16>
) {
    @inline(__always) func run<Pixels: Interleaving>(_: Pixels.Type) {
        switch taps {
        case 3: double(Pixels.self, ThreeTaps.self, rows, isOdd: isOdd, count: count, scratch: scratch, out: out)
        case 4: double(Pixels.self, FourTaps.self, rows, isOdd: isOdd, count: count, scratch: scratch, out: out)
        case 5: double(Pixels.self, FiveTaps.self, rows, isOdd: isOdd, count: count, scratch: scratch, out: out)
        case 6: double(Pixels.self, SixTaps.self, rows, isOdd: isOdd, count: count, scratch: scratch, out: out)
        default: double(Pixels.self, EightTaps.self, rows, isOdd: isOdd, count: count, scratch: scratch, out: out)
        }
    }
    switch channels {
    case 1: run(OneChannel.self)
    case 2: run(TwoChannels.self)
    case 3: run(ThreeChannels.self)
    default: run(FourChannels.self)
    }
}

/// See ``spread(_:_:count:out:)``.
@inline(never) public func spreadWords(
    _ row: UnsafePointer<UInt16>, channels: Int, count: Int, out: UnsafeMutablePointer<UInt16>
) {
    switch channels {
    case 1: spread(OneChannel.self, row, count: count, out: out)
    case 2: spread(TwoChannels.self, row, count: count, out: out)
    case 3: spread(ThreeChannels.self, row, count: count, out: out)
    default: spread(FourChannels.self, row, count: count, out: out)
    }
}

/// See ``doubleToBytes(_:_:_:count:scratch:even:odd:)``.
@inline(never) public func doubleWordsToBytes(
    _ rows: WordRows, channels: Int, taps: Int, count: Int, scratch: UnsafeMutablePointer<UInt16>,
    even: UnsafeMutablePointer<UInt8>?, odd: UnsafeMutablePointer<UInt8>?
) {
    @inline(__always) func run<Pixels: Interleaving>(_: Pixels.Type) {
        switch taps {
        case 3: go(Pixels.self, ThreeTaps.self)
        case 4: go(Pixels.self, FourTaps.self)
        case 5: go(Pixels.self, FiveTaps.self)
        case 6: go(Pixels.self, SixTaps.self)
        default: go(Pixels.self, EightTaps.self)
        }
    }
    @inline(__always) func go<Pixels: Interleaving, Taps: PrefilterTaps>(_: Pixels.Type, _: Taps.Type) {
        doubleToBytes(Pixels.self, Taps.self, rows, count: count, scratch: scratch, even: even, odd: odd)
    }
    switch channels {
    case 1: run(OneChannel.self)
    case 2: run(TwoChannels.self)
    case 3: run(ThreeChannels.self)
    default: run(FourChannels.self)
    }
}

/// See ``filterWords``.
@inline(never) public func filterWordRows(
    _ rows: WordRows, rowCount: Int, channels: Int, vertical: UnsafePointer<UInt16>, verticalRadius: Int,
    horizontal: UnsafePointer<UInt16>, horizontalRadius: Int, count: Int, scratch: UnsafeMutablePointer<UInt16>,
    out: UnsafePointer<UnsafeMutablePointer<UInt16>>
) {
    filterWords(
        rows, rowCount: rowCount, channels: channels, vertical: vertical, verticalRadius: verticalRadius,
        horizontal: horizontal, horizontalRadius: horizontalRadius, count: count, scratch: scratch, out: out)
}

/// See ``filterDirectPair(_:_:_:vertical:horizontal:count:streams:scratch:first:second:)``. `radius` is 0…9, and both axes have radius
/// + 1 weights.
@inline(never) public func filterBytePair(
    _ rows: ByteRows, channels: Int, radius: Int, vertical: UnsafePointer<UInt16>, horizontal: UnsafePointer<UInt16>,
    count: Int, streams: Bool, scratch: UnsafeMutablePointer<UInt16>, first: UnsafeMutablePointer<UInt8>,
    second: UnsafeMutablePointer<UInt8>
) {
    struct Loop: DirectLoop {
        let rows: ByteRows
        let vertical: UnsafePointer<UInt16>
        let horizontal: UnsafePointer<UInt16>
        let count: Int
        let streams: Bool
        let scratch: UnsafeMutablePointer<UInt16>
        let first: UnsafeMutablePointer<UInt8>
        let second: UnsafeMutablePointer<UInt8>

        @inline(__always) func run<Pixels: Interleaving, Both: Radius>(_: Pixels.Type, _: Both.Type) {
            filterDirectPair(
                Pixels.self, Both.self, rows, vertical: vertical, horizontal: horizontal, count: count,
                streams: streams, scratch: scratch, first: first, second: second)
        }
    }
    choose(
        channels, radius,
        Loop(
            rows: rows, vertical: vertical, horizontal: horizontal, count: count, streams: streams, scratch: scratch,
            first: first, second: second))
}

/// See ``filterDirect(_:_:_:vertical:horizontal:count:scratch:bytes:words:)``. `radius` is 0…9, and both axes have radius + 1
/// weights.
@inline(never) public func filterWordRow(
    _ rows: WordRows, channels: Int, radius: Int, vertical: UnsafePointer<UInt16>, horizontal: UnsafePointer<UInt16>,
    count: Int, scratch: UnsafeMutablePointer<UInt16>, bytes: UnsafeMutablePointer<UInt8>?,
    words: UnsafeMutablePointer<UInt16>?
) {
    struct Loop: DirectLoop {
        let rows: WordRows
        let vertical: UnsafePointer<UInt16>
        let horizontal: UnsafePointer<UInt16>
        let count: Int
        let scratch: UnsafeMutablePointer<UInt16>
        let bytes: UnsafeMutablePointer<UInt8>?
        let words: UnsafeMutablePointer<UInt16>?

        @inline(__always) func run<Pixels: Interleaving, Both: Radius>(_: Pixels.Type, _: Both.Type) {
            filterDirect(
                Pixels.self, Both.self, rows, vertical: vertical, horizontal: horizontal, count: count,
                scratch: scratch, bytes: bytes, words: words)
        }
    }
    choose(
        channels, radius,
        Loop(
            rows: rows, vertical: vertical, horizontal: horizontal, count: count, scratch: scratch, bytes: bytes,
            words: words))
}

/// A loop that is specialised for layouts and radii.
private protocol DirectLoop {
    func run<Pixels: Interleaving, Both: Radius>(_: Pixels.Type, _: Both.Type)
}

@inline(__always) private func choose(_ channels: Int, _ radius: Int, _ loop: some DirectLoop) {
    @inline(__always) func run<Pixels: Interleaving>(_: Pixels.Type) {
        switch radius {
        case 0: loop.run(Pixels.self, Radius0.self)
        case 1: loop.run(Pixels.self, Radius1.self)
        case 2: loop.run(Pixels.self, Radius2.self)
        case 3: loop.run(Pixels.self, Radius3.self)
        case 4: loop.run(Pixels.self, Radius4.self)
        case 5: loop.run(Pixels.self, Radius5.self)
        case 6: loop.run(Pixels.self, Radius6.self)
        case 7: loop.run(Pixels.self, Radius7.self)
        case 8: loop.run(Pixels.self, Radius8.self)
        default: loop.run(Pixels.self, Radius9.self)
        }
    }
    switch channels {
    case 1: run(OneChannel.self)
    case 2: run(TwoChannels.self)
    case 3: run(ThreeChannels.self)
    default: run(FourChannels.self)
    }
}
