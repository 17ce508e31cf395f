"""The reference service: a memory for conversations that uses pgclaim the way any service would."""
