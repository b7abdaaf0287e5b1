@_spi(Stores) import LarderCore
package import LarderOData

/// Checks requests against the restrictions that the model states, before they are sent. Created once for each model.
///
/// What cannot be bound to the model is not checked: the service decides.
package final class ModelRules: Sendable {
  private let model: EdmModel
  /// Created when it is needed: for large models that takes milliseconds.
  private let binder = Locked<ODataBinder?>(nil)
  private let root: ODataServiceRoot
  private let rulesByPlace = Locked<[String: ChangeRules]>([:])

  package init(_ model: EdmModel, _ root: ODataServiceRoot) {
    self.model = model
    self.root = root
  }

  /// Throws ``ODataServiceError`` (`invalidRequest`) if the model does not allow a query of an entity set or entity.
  ///
  /// - Parameter path: the query, relative to the service's root.
  package func check(query path: String) throws(ODataServiceError) {
    guard let url = bind(path), case .path(let bound) = url.resource else { return }
    do throws(QueryRules.Violation) { try QueryCheck(model).check(bound, url.options) } catch {
      throw ModelRules.error(error.text, error.annotation, operation: "read", path)
    }
  }

  /// Throws ``ODataServiceError`` (`invalidRequest`) if the model does not allow a change. Reads are not checked here.
  package func check(change request: ODataSingleRequest) throws(ODataServiceError) {
    guard !request.isRead, request.operation != .invokeAction else { return }
    let path = String(request.path.prefix { $0 != "?" })
    guard let url = bind(path), case .path(let bound) = url.resource,
      let place = ChangedPlace(bound, rules: { self.rules(of: $0, type: $1) })
    else { return }
    do throws(QueryRules.Violation) { try place.check(request, model) } catch {
      throw ModelRules.error(error.text, error.annotation, operation: request.operationName, request.path)
    }
  }

  private static func error(
    _ text: String, _ annotation: String, operation: String, _ path: String
  ) -> ODataServiceError {
    ODataServiceError(
      .invalidRequest(
        "\(text) (\(annotation)); if the service accepts it anyway, set checksRestrictions to false in the store's options"
      ), operation: operation, url: path)
  }

  private func bind(_ path: String) -> ODataBoundURL? {
    guard let absolute = try? root.absoluteText(path), let text = root.relative(absolute),
      let tree = try? ODataParser(model.version).relativeURL(text)
    else { return nil }
    var binder = binder.withLock { $0 }
    if binder == nil {
      let made = ODataBinder(model: model)
      self.binder.withLock { $0 = made }
      binder = made
    }
    return try? binder?.bind(tree, text: text)
  }

  /// The rules of the entities of a type in a set, or contained in its entities.
  private func rules(of source: ODataBoundSource?, type: EdmStructure) -> ChangeRules {
    let steps = source.map { [$0.source.name] + $0.containment.map { $0.declaringType.name + "/" + $0.name } } ?? []
    let place = steps.joined(separator: "/") + ":" + type.name
    if let rules = rulesByPlace.withLock({ $0[place] }) { return rules }
    var rules = ChangeRules(source: source?.source.name, types: [source?.source.type ?? type], model)
    if let source, !source.containment.isEmpty {
      for (index, step) in source.containment.enumerated() {
        let isLast = index == source.containment.count - 1
        let container = ChangeRules.Container(path: step.name, types: [step.declaringType], rules: rules)
        guard let item = isLast ? type : step.type.structure else { break }
        rules = ChangeRules(source: nil, types: [item], model, in: container)
      }
    } else if let source, source.source.type.name != type.name {
      rules = ChangeRules(source: source.source.name, types: [type], model)
    }
    let made = rules
    rulesByPlace.withLock { $0[place] = made }
    return rules
  }
}

/// A store that rejects requests that the service's model does not allow, before it sends them. Changes and typed
/// queries are checked; reads by URL are not. An offline store is none: it can run every query on its own data.
package protocol RestrictedStore: ODataStore {
  /// Throws ``ODataServiceError`` (`invalidRequest`) for such a query.
  func check(query path: String) throws
  /// Throws ``ODataServiceError`` (`invalidRequest`) for such a change.
  func check(change request: ODataSingleRequest) throws
}
