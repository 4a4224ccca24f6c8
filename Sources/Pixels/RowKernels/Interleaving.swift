/// The layout of a row's pixels in vectors of 32 values. They are constants of a specialisation, so that loops need no tests.
///
/// Blocks contain whole pixels: 64 values of 1, 2 or 4 channels, or 60 of 3. Each shuffle is one vpermw or vpermt2w at 512
/// bits, and a few pshufb and blends at smaller widths.
protocol Interleaving {
    static var channels: Int { get }
    /// The number of values of a block of pixels that is split into even and odd ones, or interleaved from them.
    static var block: Int { get }
    /// The even pixels of the block whose values start in `a` and continue in `b`.
    static func even(_ a: WordVector, _ b: WordVector) -> WordVector
    /// The odd pixels of the block.
    static func odd(_ a: WordVector, _ b: WordVector) -> WordVector
    /// The even pixels of a block of sums. `a` has the low sums of a ``SampleSums``, and `b` the high ones.
    static func evenOfSums(_ a: WordVector, _ b: WordVector) -> WordVector
    /// The odd pixels of that block.
    static func oddOfSums(_ a: WordVector, _ b: WordVector) -> WordVector
    /// The first half of the block of interleaved even and odd pixels.
    static func zipLow(_ e: WordVector, _ o: WordVector) -> WordVector
    /// The second half of that block.
    static func zipHigh(_ e: WordVector, _ o: WordVector) -> WordVector
    /// The same two halves for samples. Half as many vectors are moved at 256 bits as for words, but at 512 bits the processor has no
    /// such instruction for bytes.
    static func zipLow(_ e: ByteVector, _ o: ByteVector) -> ByteVector
    static func zipHigh(_ e: ByteVector, _ o: ByteVector) -> ByteVector
}

enum OneChannel: Interleaving {
    static var channels: Int { @inline(__always) get { 1 } }
    static var block: Int { @inline(__always) get { 64 } }

    @inline(__always) static func even(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[0], a[2], a[4], a[6], a[8], a[10], a[12], a[14], a[16], a[18], a[20], a[22], a[24], a[26], a[28], a[30],
            b[0], b[2], b[4], b[6], b[8], b[10], b[12], b[14], b[16], b[18], b[20], b[22], b[24], b[26], b[28], b[30])
    }

    @inline(__always) static func odd(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[1], a[3], a[5], a[7], a[9], a[11], a[13], a[15], a[17], a[19], a[21], a[23], a[25], a[27], a[29], a[31],
            b[1], b[3], b[5], b[7], b[9], b[11], b[13], b[15], b[17], b[19], b[21], b[23], b[25], b[27], b[29], b[31])
    }

    @inline(__always) static func evenOfSums(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[0], a[2], a[4], a[6], b[0], b[2], b[4], b[6], a[8], a[10], a[12], a[14], b[8], b[10], b[12], b[14], a[16],
            a[18], a[20], a[22], b[16], b[18], b[20], b[22], a[24], a[26], a[28], a[30], b[24], b[26], b[28], b[30])
    }

    @inline(__always) static func oddOfSums(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[1], a[3], a[5], a[7], b[1], b[3], b[5], b[7], a[9], a[11], a[13], a[15], b[9], b[11], b[13], b[15], a[17],
            a[19], a[21], a[23], b[17], b[19], b[21], b[23], a[25], a[27], a[29], a[31], b[25], b[27], b[29], b[31])
    }

    @inline(__always) static func zipLow(_ e: WordVector, _ o: WordVector) -> WordVector {
        WordVector(
            e[0], o[0], e[1], o[1], e[2], o[2], e[3], o[3], e[4], o[4], e[5], o[5], e[6], o[6], e[7], o[7], e[8],
            o[8], e[9], o[9], e[10], o[10], e[11], o[11], e[12], o[12], e[13], o[13], e[14], o[14], e[15], o[15])
    }

    @inline(__always) static func zipHigh(_ e: WordVector, _ o: WordVector) -> WordVector {
        WordVector(
            e[16], o[16], e[17], o[17], e[18], o[18], e[19], o[19], e[20], o[20], e[21], o[21], e[22], o[22], e[23],
            o[23], e[24], o[24], e[25], o[25], e[26], o[26], e[27], o[27], e[28], o[28], e[29], o[29], e[30], o[30],
            e[31], o[31])
    }

    @inline(__always) static func zipLow(_ e: ByteVector, _ o: ByteVector) -> ByteVector {
        ByteVector(
            e[0], o[0], e[1], o[1], e[2], o[2], e[3], o[3], e[4], o[4], e[5], o[5], e[6], o[6], e[7], o[7], e[8],
            o[8], e[9], o[9], e[10], o[10], e[11], o[11], e[12], o[12], e[13], o[13], e[14], o[14], e[15], o[15])
    }

    @inline(__always) static func zipHigh(_ e: ByteVector, _ o: ByteVector) -> ByteVector {
        ByteVector(
            e[16], o[16], e[17], o[17], e[18], o[18], e[19], o[19], e[20], o[20], e[21], o[21], e[22], o[22], e[23],
            o[23], e[24], o[24], e[25], o[25], e[26], o[26], e[27], o[27], e[28], o[28], e[29], o[29], e[30], o[30],
            e[31], o[31])
    }
}

enum TwoChannels: Interleaving {
    static var channels: Int { @inline(__always) get { 2 } }
    static var block: Int { @inline(__always) get { 64 } }

    @inline(__always) static func even(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[0], a[1], a[4], a[5], a[8], a[9], a[12], a[13], a[16], a[17], a[20], a[21], a[24], a[25], a[28], a[29],
            b[0], b[1], b[4], b[5], b[8], b[9], b[12], b[13], b[16], b[17], b[20], b[21], b[24], b[25], b[28], b[29])
    }

    @inline(__always) static func odd(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[2], a[3], a[6], a[7], a[10], a[11], a[14], a[15], a[18], a[19], a[22], a[23], a[26], a[27], a[30],
            a[31], b[2], b[3], b[6], b[7], b[10], b[11], b[14], b[15], b[18], b[19], b[22], b[23], b[26], b[27],
            b[30], b[31])
    }

    @inline(__always) static func evenOfSums(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[0], a[1], a[4], a[5], b[0], b[1], b[4], b[5], a[8], a[9], a[12], a[13], b[8], b[9], b[12], b[13], a[16],
            a[17], a[20], a[21], b[16], b[17], b[20], b[21], a[24], a[25], a[28], a[29], b[24], b[25], b[28], b[29])
    }

    @inline(__always) static func oddOfSums(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[2], a[3], a[6], a[7], b[2], b[3], b[6], b[7], a[10], a[11], a[14], a[15], b[10], b[11], b[14], b[15],
            a[18], a[19], a[22], a[23], b[18], b[19], b[22], b[23], a[26], a[27], a[30], a[31], b[26], b[27], b[30],
            b[31])
    }

    @inline(__always) static func zipLow(_ e: WordVector, _ o: WordVector) -> WordVector {
        WordVector(
            e[0], e[1], o[0], o[1], e[2], e[3], o[2], o[3], e[4], e[5], o[4], o[5], e[6], e[7], o[6], o[7], e[8],
            e[9], o[8], o[9], e[10], e[11], o[10], o[11], e[12], e[13], o[12], o[13], e[14], e[15], o[14], o[15])
    }

    @inline(__always) static func zipHigh(_ e: WordVector, _ o: WordVector) -> WordVector {
        WordVector(
            e[16], e[17], o[16], o[17], e[18], e[19], o[18], o[19], e[20], e[21], o[20], o[21], e[22], e[23], o[22],
            o[23], e[24], e[25], o[24], o[25], e[26], e[27], o[26], o[27], e[28], e[29], o[28], o[29], e[30], e[31],
            o[30], o[31])
    }

    @inline(__always) static func zipLow(_ e: ByteVector, _ o: ByteVector) -> ByteVector {
        ByteVector(
            e[0], e[1], o[0], o[1], e[2], e[3], o[2], o[3], e[4], e[5], o[4], o[5], e[6], e[7], o[6], o[7], e[8],
            e[9], o[8], o[9], e[10], e[11], o[10], o[11], e[12], e[13], o[12], o[13], e[14], e[15], o[14], o[15])
    }

    @inline(__always) static func zipHigh(_ e: ByteVector, _ o: ByteVector) -> ByteVector {
        ByteVector(
            e[16], e[17], o[16], o[17], e[18], e[19], o[18], o[19], e[20], e[21], o[20], o[21], e[22], e[23], o[22],
            o[23], e[24], e[25], o[24], o[25], e[26], e[27], o[26], o[27], e[28], e[29], o[28], o[29], e[30], e[31],
            o[30], o[31])
    }
}

enum ThreeChannels: Interleaving {
    static var channels: Int { @inline(__always) get { 3 } }
    static var block: Int { @inline(__always) get { 60 } }

    @inline(__always) static func even(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[0], a[1], a[2], a[6], a[7], a[8], a[12], a[13], a[14], a[18], a[19], a[20], a[24], a[25], a[26], a[30],
            a[31], b[0], b[4], b[5], b[6], b[10], b[11], b[12], b[16], b[17], b[18], b[22], b[23], b[24], a[0], a[0])
    }

    @inline(__always) static func odd(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[3], a[4], a[5], a[9], a[10], a[11], a[15], a[16], a[17], a[21], a[22], a[23], a[27], a[28], a[29], b[1],
            b[2], b[3], b[7], b[8], b[9], b[13], b[14], b[15], b[19], b[20], b[21], b[25], b[26], b[27], a[0], a[0])
    }

    @inline(__always) static func evenOfSums(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[0], a[1], a[2], a[6], a[7], b[0], b[4], b[5], b[6], a[10], a[11], a[12], b[8], b[9], b[10], b[14], b[15],
            a[16], a[20], a[21], a[22], b[18], b[19], b[20], a[24], a[25], a[26], a[30], a[31], b[24], a[0], a[0])
    }

    @inline(__always) static func oddOfSums(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[3], a[4], a[5], b[1], b[2], b[3], b[7], a[8], a[9], a[13], a[14], a[15], b[11], b[12], b[13], a[17],
            a[18], a[19], a[23], b[16], b[17], b[21], b[22], b[23], a[27], a[28], a[29], b[25], b[26], b[27], a[0],
            a[0])
    }

    @inline(__always) static func zipLow(_ e: WordVector, _ o: WordVector) -> WordVector {
        WordVector(
            e[0], e[1], e[2], o[0], o[1], o[2], e[3], e[4], e[5], o[3], o[4], o[5], e[6], e[7], e[8], o[6], o[7],
            o[8], e[9], e[10], e[11], o[9], o[10], o[11], e[12], e[13], e[14], o[12], o[13], o[14], e[0], e[0])
    }

    @inline(__always) static func zipHigh(_ e: WordVector, _ o: WordVector) -> WordVector {
        WordVector(
            e[15], e[16], e[17], o[15], o[16], o[17], e[18], e[19], e[20], o[18], o[19], o[20], e[21], e[22], e[23],
            o[21], o[22], o[23], e[24], e[25], e[26], o[24], o[25], o[26], e[27], e[28], e[29], o[27], o[28], o[29],
            e[0], e[0])
    }

    @inline(__always) static func zipLow(_ e: ByteVector, _ o: ByteVector) -> ByteVector {
        ByteVector(
            e[0], e[1], e[2], o[0], o[1], o[2], e[3], e[4], e[5], o[3], o[4], o[5], e[6], e[7], e[8], o[6], o[7],
            o[8], e[9], e[10], e[11], o[9], o[10], o[11], e[12], e[13], e[14], o[12], o[13], o[14], e[0], e[0])
    }

    @inline(__always) static func zipHigh(_ e: ByteVector, _ o: ByteVector) -> ByteVector {
        ByteVector(
            e[15], e[16], e[17], o[15], o[16], o[17], e[18], e[19], e[20], o[18], o[19], o[20], e[21], e[22], e[23],
            o[21], o[22], o[23], e[24], e[25], e[26], o[24], o[25], o[26], e[27], e[28], e[29], o[27], o[28], o[29],
            e[0], e[0])
    }
}

enum FourChannels: Interleaving {
    static var channels: Int { @inline(__always) get { 4 } }
    static var block: Int { @inline(__always) get { 64 } }

    @inline(__always) static func even(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[0], a[1], a[2], a[3], a[8], a[9], a[10], a[11], a[16], a[17], a[18], a[19], a[24], a[25], a[26], a[27],
            b[0], b[1], b[2], b[3], b[8], b[9], b[10], b[11], b[16], b[17], b[18], b[19], b[24], b[25], b[26], b[27])
    }

    @inline(__always) static func odd(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[4], a[5], a[6], a[7], a[12], a[13], a[14], a[15], a[20], a[21], a[22], a[23], a[28], a[29], a[30],
            a[31], b[4], b[5], b[6], b[7], b[12], b[13], b[14], b[15], b[20], b[21], b[22], b[23], b[28], b[29],
            b[30], b[31])
    }

    @inline(__always) static func evenOfSums(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], a[8], a[9], a[10], a[11], b[8], b[9], b[10], b[11], a[16],
            a[17], a[18], a[19], b[16], b[17], b[18], b[19], a[24], a[25], a[26], a[27], b[24], b[25], b[26], b[27])
    }

    @inline(__always) static func oddOfSums(_ a: WordVector, _ b: WordVector) -> WordVector {
        WordVector(
            a[4], a[5], a[6], a[7], b[4], b[5], b[6], b[7], a[12], a[13], a[14], a[15], b[12], b[13], b[14], b[15],
            a[20], a[21], a[22], a[23], b[20], b[21], b[22], b[23], a[28], a[29], a[30], a[31], b[28], b[29], b[30],
            b[31])
    }

    @inline(__always) static func zipLow(_ e: WordVector, _ o: WordVector) -> WordVector {
        WordVector(
            e[0], e[1], e[2], e[3], o[0], o[1], o[2], o[3], e[4], e[5], e[6], e[7], o[4], o[5], o[6], o[7], e[8],
            e[9], e[10], e[11], o[8], o[9], o[10], o[11], e[12], e[13], e[14], e[15], o[12], o[13], o[14], o[15])
    }

    @inline(__always) static func zipHigh(_ e: WordVector, _ o: WordVector) -> WordVector {
        WordVector(
            e[16], e[17], e[18], e[19], o[16], o[17], o[18], o[19], e[20], e[21], e[22], e[23], o[20], o[21], o[22],
            o[23], e[24], e[25], e[26], e[27], o[24], o[25], o[26], o[27], e[28], e[29], e[30], e[31], o[28], o[29],
            o[30], o[31])
    }

    @inline(__always) static func zipLow(_ e: ByteVector, _ o: ByteVector) -> ByteVector {
        ByteVector(
            e[0], e[1], e[2], e[3], o[0], o[1], o[2], o[3], e[4], e[5], e[6], e[7], o[4], o[5], o[6], o[7], e[8],
            e[9], e[10], e[11], o[8], o[9], o[10], o[11], e[12], e[13], e[14], e[15], o[12], o[13], o[14], o[15])
    }

    @inline(__always) static func zipHigh(_ e: ByteVector, _ o: ByteVector) -> ByteVector {
        ByteVector(
            e[16], e[17], e[18], e[19], o[16], o[17], o[18], o[19], e[20], e[21], e[22], e[23], o[20], o[21], o[22],
            o[23], e[24], e[25], e[26], e[27], o[24], o[25], o[26], o[27], e[28], e[29], e[30], e[31], o[28], o[29],
            o[30], o[31])
    }
}
