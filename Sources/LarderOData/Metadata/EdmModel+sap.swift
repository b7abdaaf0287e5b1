// What SAP's attributes of V2 mean together with the rest of the model.
extension EdmModel {
  /// Whether a navigation property leads to a collection of entities that belong to one entity each, and does not forbid
  /// to create them (`sap:creatable`). Their set may be closed: they are created through the entity that they belong to.
  ///
  /// One entity is only referred to: SAP writes 1 to 0..1 for value helps, which many entities share.
  package func createsOwnedEntities(_ property: EdmNavigationProperty) -> Bool {
    guard version < .v4, property.isCollection, property.sap("creatable") != "false",
      let relationship = property.relationship,
      let end = association(relationship.association)?.end(relationship.fromRole)
    else { return false }
    return end.multiplicity != .many
  }
}
