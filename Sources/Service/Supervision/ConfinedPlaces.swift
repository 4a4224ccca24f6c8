import JobModel

/// What a run that is kept within folders may open beside them, whatever its job is.
package struct ConfinedPlaces: Hashable, Sendable {
    /// The folder of the programs.
    package var programs = ""
    /// The scratch folder of the settings. Empty for one in the state folder.
    package var scratch: [String] = []
    /// Files and folders that may be missing: the config file, the worker program, folders of plugins.
    package var readable: [String] = []

    package init() {}

    /// What no folder of a token may hold or lie in: with these, a job could change what later runs execute or read.
    ///
    /// - Parameter others: the folders of the service and of its state.
    package func protectedPaths(with others: [String]) -> [String] {
        (others + [programs] + scratch + readable).filter(PathNames.isAbsolute)
    }
}
