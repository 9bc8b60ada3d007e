// Placeholder: replaced by the module.
