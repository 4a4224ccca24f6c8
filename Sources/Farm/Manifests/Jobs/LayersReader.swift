import Catalogs
import JobModel

/// Reads `layers:`, the pictures that lie over each input before its filters run, from the lowest up: each an `overlay`.
struct LayersReader {
    let catalog: Catalog
    let pictures: PictureLookup

    /// The filter that a layer is.
    static let filter = "overlay"

    var layers: ValueReader<[FilterInvocation]> {
        ValueReader { node, name, log in
            guard let overlay = catalog.filter(named: Self.filter) else {
                log.error(.job(.noLayersHere), at: node.span)
                return nil
            }
            guard case .sequence(let items) = node.content else {
                log.error(.job(.layersNotAList(found: node.kindName)), at: node.span)
                return nil
            }
            guard !items.isEmpty else {
                log.error(.value(.emptyList(name: name)), at: node.span)
                return nil
            }
            let typer = FilterTyper(descriptor: overlay, pictures: pictures, log: log)
            let layers = items.enumerated().map { index, item in
                guard item.text == nil else {
                    log.error(.job(.layerNotAMapping(found: item.kindName)), at: item.span)
                    return FilterInvocation?.none
                }
                return typer.filter(item, nameSpan: item.span, place: "\(name)[\(index)]", called: "a layer")
            }
            let present = layers.compactMap(\.self)
            return present.count == layers.count ? present : nil
        }
    }
}
