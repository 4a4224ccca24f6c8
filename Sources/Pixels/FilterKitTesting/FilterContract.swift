import CPenumbraPlugin

/// The requirements of Penumbra for every filter plugin, as checks: for a plugin's own tests, or by `penumbra plugin check`.
///
///     @Test func `it keeps the contract`() { #expect(FilterContract.violations(of: plugin(1)) == []) }
///
/// A filter that reads or writes far beyond its tile accesses a forbidden page and ends the process.
public enum FilterContract {
    /// The result of one check.
    public enum Outcome: Hashable, Sendable {
        case kept
        /// The violation of the filter.
        case broken(String)
        /// The reason why the check could not run.
        case skipped(String)
    }

    /// All violations of a plugin, as sentences.
    ///
    /// - Parameter plugin: the result of its entry function.
    public static func violations(of plugin: UnsafeRawPointer?) -> [String] {
        var violations: [String] = []
        check(plugin, measuringMemory: false) { _ in
        } report: { name, outcome in
            if case .broken(let how) = outcome { violations.append("\(name): \(how)") }
        }
        return violations
    }

    /// Runs all checks.
    ///
    /// - Parameters:
    ///   - plugin: the result of its entry function.
    ///   - measuringMemory: also looks for memory leaks of calls; only for a process that does nothing else.
    ///   - begin: receives each check's name before the check runs, so that a crash can be attributed to it.
    ///   - report: receives the result of each check.
    public static func check(
        _ plugin: UnsafeRawPointer?, measuringMemory: Bool, begin: (String) -> Void,
        report: (String, Outcome) -> Void
    ) {
        begin("description")
        guard let plugin else { return report("description", .broken("the entry function answers NULL")) }
        guard let subject = Subject(plugin.assumingMemoryBound(to: penumbra_plugin.self)) else {
            return report("description", .broken("it is of another interface, incomplete, or without PENUMBRA_F32"))
        }
        report("description", .kept)
        begin(ContractCheck.geometry.name)
        let geometry = ContractCheck.geometry.outcome(subject)
        report(ContractCheck.geometry.name, geometry)
        for check in ContractCheck.ofPixels where measuringMemory || !check.measuresMemory {
            // Other checks would request invalid rectangles, and Penumbra never renders such a plugin.
            guard geometry == .kept else {
                report(check.name, .skipped("its geometry is broken"))
                continue
            }
            begin(check.name)
            report(check.name, check.outcome(subject))
        }
    }
}

/// One check of the contract.
struct ContractCheck: Sendable {
    let name: String
    var measuresMemory = false
    private let body: @Sendable (Subject) throws -> Void

    init(_ name: String, measuresMemory: Bool = false, _ body: @escaping @Sendable (Subject) throws -> Void) {
        self.name = name
        self.measuresMemory = measuresMemory
        self.body = body
    }

    func outcome(_ subject: Subject) -> FilterContract.Outcome {
        do {
            try body(subject)
            return .kept
        } catch let breach as BreachError {
            return .broken(breach.description)
        } catch {
            return .skipped("\(error)")
        }
    }

    static let ofPixels =
        [renders, tiles, halo, again, threads, special, extremes, identity, formats, cancellation, arithmetic, memory]
}

/// A violation of the contract.
struct BreachError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The reason why a check cannot run.
struct InapplicableError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
