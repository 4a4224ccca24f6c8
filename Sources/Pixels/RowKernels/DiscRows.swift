import Builtin

// A mean over a disc of 8-bit samples: running sums of the completely covered pixels, and weighted sums of the pixels at the
// border.

/// Sign-extends words (vpmovsxwd).
@inline(__always) private func signed(_ x: SIMD16<UInt16>) -> WideVector {
    var result = WideVector()
    result._storage._value = Builtin.sext_Vec16xInt16_Vec16xInt32(x._storage._value)
    return result
}

@inline(__always) private func unsigned(_ x: SIMD16<UInt16>) -> WideVector {
    var result = WideVector()
    result._storage._value = Builtin.zext_Vec16xInt16_Vec16xInt32(x._storage._value)
    return result
}

@inline(__always) private func loadSums(_ source: UnsafePointer<UInt32>) -> WideVector {
    UnsafeRawPointer(source).loadUnaligned(as: WideVector.self)
}

@inline(__always) private func storeSums(_ sums: WideVector, _ target: UnsafeMutablePointer<UInt32>) {
    UnsafeMutableRawPointer(target).storeBytes(of: sums, as: WideVector.self)
}

/// sums += Σ entering − Σ leaving, for samples in 16 bits.
///
/// - Parameters:
///   - entering, leaving: a pointer for each offset; readable up to 127 values after the end.
///   - sums: writable up to 127 values after the end.
@inline(never) public func slideByteDiscs(
    entering: UnsafePointer<UnsafePointer<UInt16>>, enteringCount: Int,
    leaving: UnsafePointer<UnsafePointer<UInt16>>, leavingCount: Int, count: Int, sums: UnsafeMutablePointer<UInt32>
) {
    // The number of differences of samples whose sum fits 16 bits with a sign.
    let fitting = 128
    let taps = max(enteringCount, leavingCount)
    var x = 0
    while x < count {
        var start = 0
        while start < taps {
            // Four vectors are computed at once, so that a pointer is loaded once for all.
            var (a, b, c, d) = (WordVector.zero, WordVector.zero, WordVector.zero, WordVector.zero)
            var tap = start
            while tap < min(start &+ fitting, enteringCount) {
                let row = entering[tap] + x
                a &+= load(row)
                b &+= load(row + 32)
                c &+= load(row + 64)
                d &+= load(row + 96)
                tap &+= 1
            }
            tap = start
            while tap < min(start &+ fitting, leavingCount) {
                let row = leaving[tap] + x
                a &-= load(row)
                b &-= load(row + 32)
                c &-= load(row + 64)
                d &-= load(row + 96)
                tap &+= 1
            }
            add(a, sums + x)
            add(b, sums + x + 32)
            add(c, sums + x + 64)
            add(d, sums + x + 96)
            start &+= fitting
        }
        x &+= 128
    }
}

@inline(__always) private func add(_ differences: WordVector, _ sums: UnsafeMutablePointer<UInt32>) {
    storeSums(loadSums(sums) &+ signed(differences.lowHalf), sums)
    storeSums(loadSums(sums + 16) &+ signed(differences.highHalf), sums + 16)
}

/// The same for words in 8.7 fixed point; sums are below 2³².
@inline(never) public func slideWordDiscs(
    entering: UnsafePointer<UnsafePointer<UInt16>>, enteringCount: Int,
    leaving: UnsafePointer<UnsafePointer<UInt16>>, leavingCount: Int, count: Int, sums: UnsafeMutablePointer<UInt32>
) {
    var x = 0
    while x < count {
        var (low, high) = (loadSums(sums + x), loadSums(sums + x + 16))
        var tap = 0
        while tap < enteringCount {
            low &+= loadWide(entering[tap] + x)
            high &+= loadWide(entering[tap] + x + 16)
            tap &+= 1
        }
        tap = 0
        while tap < leavingCount {
            low &-= loadWide(leaving[tap] + x)
            high &-= loadWide(leaving[tap] + x + 16)
            tap &+= 1
        }
        storeSums(low, sums + x)
        storeSums(high, sums + x + 16)
        x &+= 32
    }
}

/// bytes = sums·weight + Σ (the sum of a group's samples)·its weight, rounded.
///
/// - Parameters:
///   - sums: the sums of samples, below 2³¹.
///   - taps: the taps of all groups, one after the other; a group has at most 8.
///   - counts, weights: one for each group; there is at least one group.
///   - words: not written.
///   - bytes: writable up to 63 values after the end.
@inline(never) public func weighByteDiscs(
    sums: UnsafePointer<UInt32>, weight: Float, taps: UnsafePointer<UnsafePointer<UInt16>>,
    counts: UnsafePointer<Int32>, weights: UnsafePointer<Float>, groups: Int, count: Int,
    words: UnsafeMutablePointer<UInt16>, bytes: UnsafeMutablePointer<UInt8>
) {
    let half = FloatVector(repeating: 0.5)
    var x = 0
    while x < count {
        var a = floats(loadSums(sums + x)) * weight
        var b = floats(loadSums(sums + x + 16)) * weight
        var c = floats(loadSums(sums + x + 32)) * weight
        var d = floats(loadSums(sums + x + 48)) * weight
        var (group, tap) = (0, 0)
        while group < groups {
            var (near, far) = (WordVector.zero, WordVector.zero)
            let end = tap &+ Int(counts[group])
            while tap < end {
                near &+= load(taps[tap] + x)
                far &+= load(taps[tap] + x + 32)
                tap &+= 1
            }
            let weight = weights[group]
            a += floats(unsigned(near.lowHalf)) * weight
            b += floats(unsigned(near.highHalf)) * weight
            c += floats(unsigned(far.lowHalf)) * weight
            d += floats(unsigned(far.highHalf)) * weight
            group &+= 1
        }
        storeBytes(wholes(a + half), bytes + x)
        storeBytes(wholes(b + half), bytes + x + 16)
        storeBytes(wholes(c + half), bytes + x + 32)
        storeBytes(wholes(d + half), bytes + x + 48)
        x &+= 64
    }
}

/// The same for words in 8.7 fixed point. The results are such words, too.
///
/// - Parameters:
///   - sums: below 2³².
///   - words: writable up to 31 values after the end.
///   - bytes: not written.
@inline(never) public func weighWordDiscs(
    sums: UnsafePointer<UInt32>, weight: Float, taps: UnsafePointer<UnsafePointer<UInt16>>,
    counts: UnsafePointer<Int32>, weights: UnsafePointer<Float>, groups: Int, count: Int,
    words: UnsafeMutablePointer<UInt16>, bytes: UnsafeMutablePointer<UInt8>
) {
    let half = FloatVector(repeating: 0.5)
    var x = 0
    while x < count {
        // Half of a sum leaves a bit for the sign. The lost bit is a 128th of a sample over all pixels.
        var result = floats(halved(loadSums(sums + x))) * (2 * weight)
        var (group, tap) = (0, 0)
        while group < groups {
            var sum = WideVector.zero
            let end = tap &+ Int(counts[group])
            while tap < end {
                sum &+= loadWide(taps[tap] + x)
                tap &+= 1
            }
            result += floats(sum) * weights[group]
            group &+= 1
        }
        storeWords(wholes(result + half), words + x)
        x &+= 16
    }
}

@inline(__always) private func halved(_ x: WideVector) -> WideVector {
    var result = WideVector()
    result._storage._value = Builtin.lshr_Vec16xInt32(x._storage._value, WideVector(repeating: 1)._storage._value)
    return result
}
