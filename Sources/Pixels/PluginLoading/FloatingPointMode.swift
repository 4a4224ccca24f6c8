import Glibc

/// Rounding, exceptions and the treatment of tiny numbers.
enum FloatingPointMode {
    /// Runs code that may change the mode, and puts it back.
    static func kept<Result>(_ body: () -> Result) -> Result {
        var environment = fenv_t()
        fegetenv(&environment)
        defer { fesetenv(&environment) }
        return body()
    }
}
