import CPenumbraPlugin

/// What Penumbra relies on in every filter plugin, as checks that a plugin can be tried with: in a test of its own, or
/// by `penumbra plugin check`.
///
///     @Test func `it keeps the contract`() { #expect(FilterContract.violations(of: plugin(1)) == []) }
///
/// A filter that reads or writes far beyond its tile meets a forbidden page and ends the process.
public enum FilterContract {
    /// What came of one check.
    public enum Outcome: Hashable, Sendable {
        case kept
        /// How the filter broke it.
        case broken(String)
        /// Why it could not be tried.
        case skipped(String)
    }

    /// Every way in which a plugin breaks the contract, as sentences.
    ///
    /// - Parameter plugin: what its entry function answers.
    public static func violations(of plugin: UnsafeRawPointer?) -> [String] {
        var violations: [String] = []
        check(plugin, measuringMemory: false) { _ in
        } report: { name, outcome in
            if case .broken(let how) = outcome { violations.append("\(name): \(how)") }
        }
        return violations
    }

    /// Tries everything.
    ///
    /// - Parameters:
    ///   - plugin: what its entry function answers.
    ///   - measuringMemory: also looks for memory that calls leave behind; only for a process that does nothing else.
    ///   - begin: receives each check's name before the check runs, so that a crash can be attributed to it.
    ///   - report: gets what came of it.
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
            // Rectangles without measure would be asked for, and no picture of the kind is ever rendered.
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

/// How a filter broke the contract.
struct BreachError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Why something cannot be tried.
struct InapplicableError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
