/// The style sheets. The service's page has the shared one, too, so that both look alike.
package enum Looks {
    /// Colours, type, and the parts that a report and the service's page have in common.
    package static let shared: [UInt8] = PackageResources.looks_css

    /// All that a report needs.
    static let report = String(decoding: shared + PackageResources.report_css, as: UTF8.self)
}
