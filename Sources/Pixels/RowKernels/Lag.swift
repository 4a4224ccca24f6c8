// Running sums of interleaved pixels, 16 values at a time, as constants of a specialisation. Each shuffle is one vpermd or
// vpermt2d at 512 bits, and a few at smaller widths.

/// The distance of the values of a channel.
protocol Lag {
    static var channels: Int { get }
    /// The prefix sum of each value within its channel.
    static func prefix(_ x: WideVector) -> WideVector
    /// The first pixel, repeated.
    static func first(_ x: WideVector) -> WideVector
    /// The last values of each channel, with which the sums continue in the next vector.
    static func last(_ x: WideVector) -> WideVector
}

enum OneLag: Lag {
    static var channels: Int { @inline(__always) get { 1 } }

    @inline(__always) static func prefix(_ x: WideVector) -> WideVector {
        let none = WideVector.zero
        let a =
            x
            &+ WideVector(
                none[0], x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14])
        let b =
            a
            &+ WideVector(
                none[0], none[1], a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]
            )
        let c =
            b
            &+ WideVector(
                none[0], none[1], none[2], none[3], b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
                b[11])
        let d =
            c
            &+ WideVector(
                none[0], none[1], none[2], none[3], none[4], none[5], none[6], none[7], c[0], c[1], c[2], c[3], c[4],
                c[5], c[6], c[7])
        return d
    }

    @inline(__always) static func first(_ x: WideVector) -> WideVector {
        WideVector(x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0], x[0])
    }

    @inline(__always) static func last(_ x: WideVector) -> WideVector {
        WideVector(
            x[15], x[15], x[15], x[15], x[15], x[15], x[15], x[15], x[15], x[15], x[15], x[15], x[15], x[15], x[15],
            x[15])
    }
}

enum TwoLag: Lag {
    static var channels: Int { @inline(__always) get { 2 } }

    @inline(__always) static func prefix(_ x: WideVector) -> WideVector {
        let none = WideVector.zero
        let a =
            x
            &+ WideVector(
                none[0], none[1], x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13]
            )
        let b =
            a
            &+ WideVector(
                none[0], none[1], none[2], none[3], a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                a[11])
        let c =
            b
            &+ WideVector(
                none[0], none[1], none[2], none[3], none[4], none[5], none[6], none[7], b[0], b[1], b[2], b[3], b[4],
                b[5], b[6], b[7])
        return c
    }

    @inline(__always) static func first(_ x: WideVector) -> WideVector {
        WideVector(x[0], x[1], x[0], x[1], x[0], x[1], x[0], x[1], x[0], x[1], x[0], x[1], x[0], x[1], x[0], x[1])
    }

    @inline(__always) static func last(_ x: WideVector) -> WideVector {
        WideVector(
            x[14], x[15], x[14], x[15], x[14], x[15], x[14], x[15], x[14], x[15], x[14], x[15], x[14], x[15], x[14],
            x[15])
    }
}

enum ThreeLag: Lag {
    static var channels: Int { @inline(__always) get { 3 } }

    @inline(__always) static func prefix(_ x: WideVector) -> WideVector {
        let none = WideVector.zero
        let a =
            x
            &+ WideVector(
                none[0], none[1], none[2], x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11],
                x[12])
        let b =
            a
            &+ WideVector(
                none[0], none[1], none[2], none[3], none[4], none[5], a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                a[8], a[9])
        let c =
            b
            &+ WideVector(
                none[0], none[1], none[2], none[3], none[4], none[5], none[6], none[7], none[8], none[9], none[10],
                none[11], b[0], b[1], b[2], b[3])
        return c
    }

    @inline(__always) static func first(_ x: WideVector) -> WideVector {
        WideVector(x[0], x[1], x[2], x[0], x[1], x[2], x[0], x[1], x[2], x[0], x[1], x[2], x[0], x[1], x[2], x[0])
    }

    @inline(__always) static func last(_ x: WideVector) -> WideVector {
        WideVector(
            x[13], x[14], x[15], x[13], x[14], x[15], x[13], x[14], x[15], x[13], x[14], x[15], x[13], x[14], x[15],
            x[13])
    }
}

enum FourLag: Lag {
    static var channels: Int { @inline(__always) get { 4 } }

    @inline(__always) static func prefix(_ x: WideVector) -> WideVector {
        let none = WideVector.zero
        let a =
            x
            &+ WideVector(
                none[0], none[1], none[2], none[3], x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10],
                x[11])
        let b =
            a
            &+ WideVector(
                none[0], none[1], none[2], none[3], none[4], none[5], none[6], none[7], a[0], a[1], a[2], a[3], a[4],
                a[5], a[6], a[7])
        return b
    }

    @inline(__always) static func first(_ x: WideVector) -> WideVector {
        WideVector(x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[3], x[0], x[1], x[2], x[3])
    }

    @inline(__always) static func last(_ x: WideVector) -> WideVector {
        WideVector(
            x[12], x[13], x[14], x[15], x[12], x[13], x[14], x[15], x[12], x[13], x[14], x[15], x[12], x[13], x[14],
            x[15])
    }
}
