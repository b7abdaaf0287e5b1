import LarderOData
import LarderService

// The content of changes: see ``ContentRules``.
extension ChangeMaker {
  /// The content of a change as it will be sent.
  func content(_ request: ODataSingleRequest, _ target: ChangeTarget) throws -> ODataRequestBody {
    var type = target.cast ?? target.table?.type
    if target.end.isEntity { type = target.cells?.text(.type).flatMap(model.structure) ?? type }
    return try context.contentRules.content(
      request, type: type, isAnother: target.end.isEntity ? { isAnother($0, target) } : nil)
  }

  /// Whether an id names another entity than the target.
  private func isAnother(_ id: String, _ target: ChangeTarget) -> Bool {
    guard let entity = target.entity, let table = plan.table(entity.table) else { return false }
    if let other = (try? find(id))?.entity { return other != entity }
    if case .entitySet(let name) = table.place,
      let other = ResourceName.entity(id, root: context.root, model: model, version: model.version)?.name, other != name
    {
      return true
    }
    // The entity with the id is not in the store.
    return ChangeMaker.key(of: id, table, model)?.values.contains { target.cells?[$0.key] != $0.value } ?? false
  }
}

extension ContentRules {
  /// The content of a change as it will be sent, or an error of the store.
  func content(
    _ request: ODataSingleRequest, type: EdmStructure? = nil, isAnother: ((String) throws -> Bool)? = nil
  ) throws -> ODataRequestBody {
    do { return try sent(request, type: type, isAnother: isAnother) } catch let error as ChangeContentError {
      throw OfflineODataError(.unfittingBody, error.description)
    }
  }
}
