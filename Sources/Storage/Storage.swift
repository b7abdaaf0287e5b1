/// Placeholder: replaced by the target's map.
