import LarderOData
import LarderService

// Claims for the resources that a request changes. Two changes of one resource wait for each other; all other requests
// run concurrently.
//
// One resource is an entity with everything below it (properties, media, links, contained entities, bound operations),
// however its key is spelled. Creations in one set run one after another; a creation whose content has the key is also
// a change of that entity. A change of a set without a key (`Orders/$filter(…)/$each`), of a singleton or by an unbound
// action claims one resource with its name. Other paths to the same entity (`Orders(1)/Customer` for `Customers(7)`)
// are other resources.
extension ODataRequest {
  /// The claims for the changes in the request; none for reads.
  func claims(root: ODataServiceRoot, model: EdmModel?, version: ODataVersion?) -> [RequestClaim] {
    let changes: [ODataSingleRequest]
    switch self {
    case .single(let request): changes = request.isRead ? [] : [request]
    case .batch(let batch): changes = batch.items.flatMap { $0.requests.filter { !$0.isRead } }
    }
    return changes.flatMap {
      ResourceName($0.path, root: root, model: model, version: version).claims(of: $0, model)
    }
  }
}

extension ResourceName {
  fileprivate func claims(of request: ODataSingleRequest, _ model: EdmModel?) -> [RequestClaim] {
    if let key { return [.shared(name), .alone(Self.entity(name, key))] }
    guard !hasMore, request.operation == .create || request.operation == .createMedia, let model else {
      return [.alone(name)]
    }
    let claims: [RequestClaim] = [.shared(name), .alone("\(name)(new)")]
    guard case .entity(let entity) = request.body,
      let type = model.entitySet(name).flatMap({ model.structure($0.entityType) }),
      let key = Self.key(of: entity, type)
    else { return claims }
    return claims + [.alone(Self.entity(name, key))]
  }

  private static func entity(_ set: String, _ key: String) -> String { "\(set)(\(key))" }
}
