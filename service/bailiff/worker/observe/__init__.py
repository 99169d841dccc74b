"""What people can see: metrics, pages, Events, the audit log."""
