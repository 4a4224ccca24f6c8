import Glibc

/// Rounding, masks of exceptions and the treatment of tiny numbers.
enum FloatingPointMode {
    /// Runs code that may change the mode, puts it back, and tells whether it was changed.
    static func kept<Result>(_ body: () -> Result) -> (Result, isKept: Bool) {
        var before = fenv_t()
        fegetenv(&before)
        let result = body()
        var after = fenv_t()
        fegetenv(&after)
        fesetenv(&before)
        return (result, before.mode == after.mode)
    }
}

extension fenv_t {
    /// Without the flags that arithmetic sets.
    fileprivate var mode: [UInt32] {
        #if arch(x86_64)
            [UInt32(__control_word), __mxcsr & ~0x3f]
        #else
            [UInt32(truncatingIfNeeded: fegetround())]
        #endif
    }
}
