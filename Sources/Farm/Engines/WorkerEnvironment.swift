/// The environment variables that reach workers.
///
/// A worker decodes pictures of strangers and runs plugins. The coordinator's environment often holds what neither must
/// see: tokens of a CI job, keys of an object store. So a variable is handed on only if something in a worker reads it.
package enum WorkerEnvironment {
    /// Read by the C library, the loader, the time zone and locale functions, fonts, and compilers' run-time libraries.
    static let names: Set<String> = [
        "PATH", "HOME", "TMPDIR", "TZ", "TZDIR", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES",
        "GCONV_PATH", "LOCPATH", "MALLOC_ARENA_MAX", "ASAN_OPTIONS", "LLVM_PROFILE_FILE",
    ]

    /// Of a cluster's job beside them: who it runs for, as a login says.
    private static let jobNames: Set<String> = ["USER", "LOGNAME", "SHELL"]

    /// Of families of variables: Penumbra's own, locale, libvips and its libraries, and threads of plugins.
    static let prefixes = ["PENUMBRA_", "LC_", "VIPS_", "G_", "ORC_", "XDG_", "FONTCONFIG_", "OMP_", "KMP_"]

    /// What of `variables` a worker gets.
    ///
    /// - Parameter more: names that the user's settings add. One that ends with `*` is the beginning of names.
    package static func allowed(of variables: [String: String], more: [String]) -> [String: String] {
        let others = Set(more.filter { !$0.hasSuffix("*") })
        let beginnings = prefixes + more.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) }
        return variables.filter { name, _ in
            names.contains(name) || others.contains(name) || beginnings.contains { name.hasPrefix($0) }
        }
    }

    /// The names of what a cluster's job gets, which starts workers: the same, and who it runs for. Sorted.
    package static func namesForJobs(of variables: [String: String], more: [String]) -> [String] {
        Set(allowed(of: variables, more: more).keys).union(jobNames.intersection(variables.keys))
            .filter(isPlain)
            .sorted()
    }

    /// Others could not be named to `sbatch`.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || [48...57, 65...90, 97...122].contains { $0.contains(byte) }
        }
    }
}
