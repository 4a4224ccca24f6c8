/// The prefilters that halve and double the sampling rate, as constants of a specialisation; docs/arithmetic.md derives
/// them. All are symmetric, sum to 1, and are their own interpolators (times 2).
protocol PrefilterTaps {
    static var count: Int { get }
}

/// 1 3 3 1, over 8.
enum FourTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 4 } }
}

/// 1 4 6 4 1, over 16.
enum FiveTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 5 } }
}

/// 5 21 38 38 21 5, over 128.
enum SixTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 6 } }
}

/// 1 7 21 35 35 21 7 1, over 128.
enum EightTaps: PrefilterTaps {
    static var count: Int { @inline(__always) get { 8 } }
}
