import FilterKitTesting
import Glibc
import PluginLoading
import Testing

/// Every plugin that comes with Penumbra passes what other authors' plugins are tried with.
struct ContractTests {
    @Test(arguments: Shipped.names)
    func `it keeps the contract of filters`(name: String) throws {
        var outcomes: [String: FilterContract.Outcome] = [:]
        PluginCheck.run(try #require(Shipped.path(name))) { _ in
        } report: { check, outcome in
            outcomes[check] = outcome
        }
        for (check, outcome) in outcomes {
            if case .broken(let how) = outcome { Issue.record("\(name): \(check): \(how)") }
        }
        #expect(outcomes["tile invariance"] == .kept)
        #expect(outcomes["identity"] == .kept || name == "invert" || name == "halftone" || name == "posterize")
    }
}
