import LarderOData

/// The restrictions of changes in a model's Capabilities annotations: `InsertRestrictions`, `UpdateRestrictions` and
/// `DeleteRestrictions` of an entity set, a singleton or a navigation property, or inside `NavigationRestrictions`.
/// Each restriction has the name of its annotation.
package struct ChangeRestrictions: Sendable {
  /// The names of annotations by the properties that they restrict.
  package typealias Reasons = [String: String]

  package internal(set) var insertRestriction: String?
  package internal(set) var updateRestriction: String?
  package internal(set) var deleteRestriction: String?
  /// The annotations that reject one of PUT and PATCH: updates that replace the entity, and other updates.
  package private(set) var replaceRestriction: String?
  package private(set) var patchRestriction: String?
  /// Whether the model says that updates do not create entities (`UpdateRestrictions/Upsertable`).
  package private(set) var deniesUpserts = false
  /// Whether the model has the annotation for creations, updates and deletions here: then those of elements that count
  /// less have no effect. Without `Insertable` and the like, an annotation allows the change.
  private var describesInsert = false
  private var describesUpdate = false
  private var describesDelete = false
  /// Properties that cannot be set when an entity is created. A part of a complex property has its path.
  package internal(set) var notInsertable: Reasons = [:]
  /// Properties that can be set only when an entity is created.
  package internal(set) var notUpdatable: Reasons = [:]
  /// Properties that must be set when an entity is created.
  package internal(set) var required: Reasons = [:]
  /// Navigation properties that cannot be set in the body of a creation, with new or existing entities.
  package internal(set) var notInsertableLinks: Reasons = [:]
  /// Navigation properties that cannot be bound to other entities.
  package private(set) var notUpdatableLinks: Reasons = [:]
  /// Navigation properties whose links cannot be removed.
  package private(set) var notDeletableLinks: Reasons = [:]

  init() {}

  /// The restrictions that are annotated on an element.
  init(of target: String, _ model: EdmModel) {
    func value(_ term: String) -> EdmAnnotationValue? {
      model.annotation(EdmModel.capabilities + term, target: target)?.value
    }
    read(value("InsertRestrictions"), value("UpdateRestrictions"), value("DeleteRestrictions"), in: "Capabilities.")
  }

  /// The restrictions of one navigation property in `NavigationRestrictions`.
  init(_ record: EdmAnnotationValue, in place: String) {
    read(record["InsertRestrictions"], record["UpdateRestrictions"], record["DeleteRestrictions"], in: place + "/")
  }

  private mutating func read(
    _ insert: EdmAnnotationValue?, _ update: EdmAnnotationValue?, _ delete: EdmAnnotationValue?, in place: String
  ) {
    if let insert {
      let term = "\(place)InsertRestrictions"
      describesInsert = true
      // A path is decided by the service, for each entity.
      if insert["Insertable"]?.bool == false { insertRestriction = "\(term)/Insertable" }
      notInsertable = insert.reasons("NonInsertableProperties", term)
      notInsertableLinks = insert.reasons("NonInsertableNavigationProperties", term)
      required = insert.reasons("RequiredProperties", term)
    }
    if let update {
      let term = "\(place)UpdateRestrictions"
      describesUpdate = true
      if update["Updatable"]?.bool == false { updateRestriction = "\(term)/Updatable" }
      deniesUpserts = update["Upsertable"]?.bool == false
      notUpdatable = update.reasons("NonUpdatableProperties", term)
      notUpdatableLinks = update.reasons("NonUpdatableNavigationProperties", term)
      if let methods = update["UpdateMethod"]?.memberNames, !methods.isEmpty {
        if !methods.contains("PUT") { replaceRestriction = "\(term)/UpdateMethod" }
        if !methods.contains("PATCH") { patchRestriction = "\(term)/UpdateMethod" }
      }
    }
    if let delete {
      let term = "\(place)DeleteRestrictions"
      describesDelete = true
      if delete["Deletable"]?.bool == false { deleteRestriction = "\(term)/Deletable" }
      notDeletableLinks = delete.reasons("NonDeletableNavigationProperties", term)
    }
  }

  /// Allows creations, whatever elements that count less say about them.
  mutating func allowInsert() { describesInsert = true }

  /// Why an entity cannot be updated by a method.
  package func updateRestriction(by method: ODataSingleRequest.UpdateMethod) -> String? {
    updateRestriction ?? (method == .replace ? replaceRestriction : patchRestriction)
  }

  /// The restrictions of the entities behind a navigation property: those of the property for the kinds of changes that
  /// it describes, otherwise those of their set.
  package func overridden(by navigation: ChangeRestrictions?) -> ChangeRestrictions {
    guard var result = navigation else { return self }
    result.merge(self)
    return result
  }

  /// Adds the properties that cannot be set or changed.
  mutating func addLists(of other: ChangeRestrictions) {
    notInsertable.merge(other.notInsertable) { first, _ in first }
    notInsertableLinks.merge(other.notInsertableLinks) { first, _ in first }
    notUpdatable.merge(other.notUpdatable) { first, _ in first }
  }

  /// Adds the restrictions of an element that counts less.
  mutating func merge(_ other: ChangeRestrictions) {
    if !describesInsert {
      insertRestriction = insertRestriction ?? other.insertRestriction
      notInsertable.merge(other.notInsertable) { first, _ in first }
      notInsertableLinks.merge(other.notInsertableLinks) { first, _ in first }
      required.merge(other.required) { first, _ in first }
      describesInsert = other.describesInsert
    }
    if !describesUpdate {
      updateRestriction = updateRestriction ?? other.updateRestriction
      deniesUpserts = deniesUpserts || other.deniesUpserts
      replaceRestriction = replaceRestriction ?? other.replaceRestriction
      patchRestriction = patchRestriction ?? other.patchRestriction
      notUpdatable.merge(other.notUpdatable) { first, _ in first }
      notUpdatableLinks.merge(other.notUpdatableLinks) { first, _ in first }
      describesUpdate = other.describesUpdate
    }
    if !describesDelete {
      deleteRestriction = deleteRestriction ?? other.deleteRestriction
      notDeletableLinks.merge(other.notDeletableLinks) { first, _ in first }
      describesDelete = other.describesDelete
    }
  }
}

extension EdmModel {
  /// The namespace of the Capabilities vocabulary, with a dot at the end.
  static let capabilities = "Org.OData.Capabilities.V1."
}

extension EdmAnnotationValue {
  /// The paths in a collection, each with the name of the annotation.
  func reasons(_ name: String, _ term: String) -> ChangeRestrictions.Reasons {
    let paths = (self[name]?.items ?? []).compactMap(\.text)
    return Dictionary(paths.map { ($0, "\(term)/\(name)") }, uniquingKeysWith: { first, _ in first })
  }

  /// The names of an enumeration's members, without the name of the type.
  fileprivate var memberNames: [String]? {
    text?.split(whereSeparator: { $0 == " " || $0 == "," }).compactMap {
      $0.split(separator: "/").last.map(String.init)
    }
  }
}
